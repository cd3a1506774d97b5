package simulator

import "net/http"

// endpointFields are the parameters of a webhook endpoint; nil leaves the field alone.
type endpointFields struct {
	url         string
	events      []string
	description *string
	disabled    *bool
	metadata    metadataChange
}

func readEndpointFields(c *call) endpointFields {
	p := c.params
	f := endpointFields{url: p.text("url"), metadata: p.metadata()}
	if f.url != "" {
		if problem := checkWebhookURL(f.url, c.world.anywhere); problem != nil {
			p.fail(problem)
		}
	}
	events, given := p.texts("enabled_events")
	if given && len(events) == 0 {
		p.fail(invalid("enabled_events", "parameter_invalid_empty", "enabled_events must name at least one type, or *."))
	}
	for _, kind := range events {
		if kind != "*" && !eventType.MatchString(kind) {
			p.fail(invalid("enabled_events", "", "Invalid enabled_events: %q is no type of events.", kind))
		}
	}
	f.events = events
	if text, given := p.clearable("description"); given {
		f.description = &text
	}
	return f
}

func (f endpointFields) apply(t *endpoint) *apiError {
	merged, problem := f.metadata.apply(t.Metadata)
	if problem != nil {
		return problem
	}
	t.Metadata = merged
	if f.url != "" {
		t.URL = f.url
	}
	if f.events != nil {
		t.EnabledEvents = f.events
	}
	if f.description != nil {
		t.Description = nullable(*f.description)
	}
	if f.disabled != nil {
		t.Status = endpointEnabled
		if *f.disabled {
			t.Status = endpointDisabled
		}
	}
	return nil
}

// prepareCreateEndpoint serves POST /v1/webhook_endpoints.
func prepareCreateEndpoint(c *call) (operation, *apiError) {
	p := c.params
	p.require("enabled_events")
	p.require("url")
	fields := readEndpointFields(c)
	version := p.text("api_version")
	if version != "" && version != apiVersion {
		p.fail(invalid("api_version", "", "The simulator renders events in version %s only.", apiVersion))
	}
	if connect, _ := p.boolean("connect"); connect {
		p.fail(invalid("connect", "", "The simulator has one account and nothing to connect."))
	}
	p.expand("webhook_endpoint", "")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return operation{run: func(e *effect) (any, *apiError) {
		if e.endpointCount() >= maxEndpoints {
			return nil, invalid("", "", "An account has at most %d webhook endpoints.", maxEndpoints)
		}
		t := endpoint{webhookEndpoint: webhookEndpoint{
			ID: newID(e, "we_", e.world.endpoints), Object: "webhook_endpoint", APIVersion: nullable(version),
			Created: e.now.Unix(), Status: endpointEnabled,
		}}
		if problem := fields.apply(&t); problem != nil {
			return nil, problem
		}
		secret := e.newSecret(t.ID, 0)
		t.Secrets = []signingSecret{{Value: secret}}
		e.putEndpoint(t)
		shown := t.webhookEndpoint
		shown.Secret = secret
		return shown, nil
	}}, nil
}

func (e *effect) endpointCount() int {
	n := 0
	for t := range e.world.endpoints.all {
		if !t.Deleted {
			n++
		}
	}
	return n
}

// onEndpoint makes an operation that holds the endpoint of the path while it runs.
func (c *call) onEndpoint(run func(*effect, endpoint) (any, *apiError)) (operation, *apiError) {
	if c.request.Method != http.MethodDelete { // of what is gone nothing can be shown
		c.params.expand("webhook_endpoint", "")
	}
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	return operation{object: c.id, run: func(e *effect) (any, *apiError) {
		t, ok := e.endpoint(c.id)
		if !ok || t.Deleted {
			return nil, missingInPath("webhook_endpoint", "webhook endpoint", c.id)
		}
		return run(e, t)
	}}, nil
}

// prepareGetEndpoint serves GET /v1/webhook_endpoints/{id}.
func prepareGetEndpoint(c *call) (operation, *apiError) {
	op, problem := c.onEndpoint(func(_ *effect, t endpoint) (any, *apiError) { return t.webhookEndpoint, nil })
	op.object = "" // a read waits for nobody
	return op, problem
}

// prepareUpdateEndpoint serves POST /v1/webhook_endpoints/{id}.
func prepareUpdateEndpoint(c *call) (operation, *apiError) {
	fields := readEndpointFields(c)
	if disabled, given := c.params.boolean("disabled"); given {
		fields.disabled = &disabled
	}
	return c.onEndpoint(func(e *effect, t endpoint) (any, *apiError) {
		if problem := fields.apply(&t); problem != nil {
			return nil, problem
		}
		e.putEndpoint(t)
		return t.webhookEndpoint, nil
	})
}

// prepareDeleteEndpoint serves DELETE /v1/webhook_endpoints/{id}. What was still owed to it is not sent any more.
func prepareDeleteEndpoint(c *call) (operation, *apiError) {
	return c.onEndpoint(func(e *effect, t endpoint) (any, *apiError) {
		t.Deleted = true
		e.putEndpoint(t)
		return deletedObject{ID: t.ID, Object: t.Object, Deleted: true}, nil
	})
}

// prepareListEndpoints serves GET /v1/webhook_endpoints.
func prepareListEndpoints(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	p.expand("webhook_endpoint", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.endpoints, page, "webhook endpoint", func(t endpoint) bool {
		return !t.Deleted && page.created.admits(t.Created)
	}, func(_ *effect, t endpoint) any { return t.webhookEndpoint })
}
