# Builds the one binary and puts it, alone, into an image that has no shell and does not run as root.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /payonce ./cmd/payonce && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /payonce /payonce
# A volume mounted here belongs to the account the program runs as.
COPY --from=build --chown=nonroot:nonroot /data /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=5s --start-period=10s CMD ["/payonce", "health"]
ENTRYPOINT ["/payonce"]
CMD ["serve"]
