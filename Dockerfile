# Builds the one binary and puts it, alone, into an image that has no shell and does not run as root.
FROM golang:1.26 AS build
WORKDIR /src
# The modules are a layer of their own: a change of our code does not fetch them again.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /payonce ./cmd/payonce && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /payonce /payonce
# A volume that is mounted here for the first time takes over the owner, which is the account the program runs as.
COPY --from=build --chown=nonroot:nonroot /data /data
# Nobody outside a container reaches its loopback, which is the program's default. Who may come in is decided by the
# ports that are published.
ENV PAYONCE_ADDR=0.0.0.0:8080 PAYONCE_SIM_ADDR=0.0.0.0:12110
EXPOSE 8080 12110
HEALTHCHECK --interval=5s --timeout=6s --start-period=10s CMD ["/payonce", "health"]
ENTRYPOINT ["/payonce"]
CMD ["serve"]
