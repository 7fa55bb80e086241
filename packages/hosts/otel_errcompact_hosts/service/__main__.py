"""
Start the service on demand, as its client does.

Variables say how: that needs no library of the command line.
"""

from __future__ import annotations

import logging
import sys

from otel_errcompact.config import ServiceOptions
from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact.otel import semconv
from otel_errcompact_hosts.ports.logs import set_up_log
from otel_errcompact_hosts.service.places import find_places
from otel_errcompact_hosts.service.serving import ServiceSettings, serve


def main() -> None:
    """Serve as the variables say."""
    options = ServiceOptions.from_environ()
    set_up_log(options.log_level)
    log = logging.getLogger(semconv.SCOPE)
    try:
        places = find_places(token=options.token)
        serve(ServiceSettings(places=places, port=options.port, idle_seconds=options.idle_seconds), log.info)
    except ErrcompactError as error:
        log.error("%s", error)  # noqa: TRY400 - a sentence for people
        sys.exit(1)


if __name__ == "__main__":
    main()
