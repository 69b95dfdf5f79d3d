"""SavedModels that serve without this package: modules for TF-Hub, models for TF Serving."""
