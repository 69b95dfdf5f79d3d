"""The tables of `inference.py`."""


def print_contenders(table, compared):
    """Prints speed, memory and arithmetic of all contenders on one model."""
    lstm, rows = table["options"]["lstm"], table["contenders"]
    print(f"\n{table['model']}: lstm {lstm['dim']}, projection {lstm['projection_dim']}; ", end="")
    print(f"{table['sentences']:,} sentences, {table['tokens']:,} tokens")
    print(f"{'':30}{'tokens/s':>10}{'ratio':>8}{'load s':>9}{'first s':>9}{'peak MB':>9}", end="")
    print(f"{'difference':>12}")
    for row in rows:
        print(
            f"{row['name']:30}{row['tokens_per_second']:10,.0f}{row['ratio']:8.2f}"
            f"{row['load_seconds']:9.2f}{row['first_seconds']:9.2f}{row['peak_mb']:9,.0f}"
            f"{row['difference']:12.1e}"
        )
    print("ratio: to the faster of the others. load: without imports. first: the first call.")
    print(f"difference: the largest in all layers of {compared} sentences, to the first of ours.")
    print_arithmetic([row for row in rows if "share" in row])
    for row in rows:
        if "rms_errors" in row:
            shares = ", ".join(f"{share:.2%}" for share in row["rms_errors"])
            print(f"{row['name']}: rms error of each layer, of its own rms: {shares}")


def print_lengths(table, call):
    """Prints what a token costs in texts of several lengths."""
    print(f"\n{table['model']}, {table['precision']}, at most {call} texts a call")
    print(f"{'':30}{'tokens/s':>10}{'us a token':>12}")
    for row in table["texts"]:
        rate = row["tokens_per_second"]
        print(f"{row['name']:30}{rate:10,.0f}{1e6 / rate:12.1f}")
    print_arithmetic(table["texts"])


def print_arithmetic(rows):
    """Prints the products of a token, and the share of the machine's rate that they reach."""
    print(f"\n{'MFLOP a token':30}{'words':>8}{'encoder':>9}{'LSTMs':>8}{'GFLOP/s':>9}", end="")
    print(f"{'GEMM here':>11}{'share':>7}")
    for row in rows:
        print(
            f"{row['name']:30}{row['words_per_token']:8.2f}{row['encoder_flops'] / 1e6:9.1f}"
            f"{row['lstm_flops'] / 1e6:8.1f}{row['flops_per_second'] / 1e9:9.0f}"
            f"{row['gemm'] / 1e9:11.0f}{row['share']:7.0%}"
        )
    print("words: distinct ones of each call, a token. GEMM here: GFLOP/s of one large product.")
