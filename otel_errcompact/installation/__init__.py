"""INSTALLATION: what an application, a configurator or the environment sets up."""
