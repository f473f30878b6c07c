# syntax=docker/dockerfile:1
#
# rldp as a command in a container:
#
#   docker build -t rldp .
#   docker run --rm --network=none --read-only --tmpfs /tmp \
#     --user "$(id -u):$(id -g)" --mount "type=bind,src=$PWD,dst=/data" \
#     rldp release protocol.json people.csv --keep region -o released.csv --json
#
# It needs no network, no privilege and no writable disk but the folder with the data (and /tmp for rows on
# standard input). Pin the base image by its digest for production, and build anew when it is patched.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /source
RUN python -m venv /opt/rldp
ENV PATH=/opt/rldp/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
# Extras, such as "[excel]" or "[dask]".
ARG EXTRAS=""
RUN pip install ".${EXTRAS}" && rldp --version

FROM python:${PYTHON}-slim
# Messages hold ε; output is not held back where a log collects it; one thread for tiny matrices.
ENV PATH=/opt/rldp/bin:$PATH PYTHONUTF8=1 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
COPY --from=build /opt/rldp /opt/rldp
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin rldp
USER 10001
WORKDIR /data
# The command is process 1: SIGTERM reaches it, and it leaves nothing unfinished behind.
ENTRYPOINT ["rldp"]
CMD ["--help"]
