"""What the library costs beside what the SDK itself costs: `python -m benchmarks.cost`."""
