"""
The dashboards and alerts of otel-errcompact as code; `python -m dashboards` writes what Grafana and Prometheus read.

`queries` says what is asked, `layout` how an answer is drawn, and one module per dashboard which panels there are.
"""
