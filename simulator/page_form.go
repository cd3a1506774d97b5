package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// pageForms is what the forms of the overview do, by the value of their field "do". Pages of other sites cannot send
// them: see crossOrigin.
var pageForms = map[string]func(*control, url.Values) error{
	"advance": func(c *control, f url.Values) error { return c.world.setClock(f.Get("by"), nil) },
	"freeze":  func(c *control, _ url.Values) error { frozen := true; return c.world.setClock("", &frozen) },
	"thaw":    func(c *control, _ url.Values) error { frozen := false; return c.world.setClock("", &frozen) },

	"pause":     func(c *control, _ url.Values) error { return c.world.setPaused(true) },
	"resume":    func(c *control, _ url.Values) error { return c.world.setPaused(false) },
	"flush":     func(c *control, _ url.Values) error { c.world.flush(); return nil },
	"redeliver": redeliverForm,

	"profile":     profileForm,
	"add rule":    addRuleForm,
	"switch rule": func(c *control, f url.Values) error { return c.world.switchRule(f.Get("id")) },
	"remove rule": func(c *control, f url.Values) error { _, err := c.world.dropRule(f.Get("id")); return err },
	"release":     func(c *control, f url.Values) error { c.world.releaseBarrier(f.Get("name")); return nil },

	"settle": settleForm,
}

// pageForm does what a form asks for, and leads back to the overview.
func (c *control) pageForm() answer {
	c.request.Body = http.MaxBytesReader(c.writer, c.request.Body, maxBody)
	if err := c.request.ParseForm(); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	form := c.request.PostForm
	act := pageForms[form.Get("do")]
	if act == nil {
		return c.refuse(http.StatusBadRequest, "the page has no form that does %q", form.Get("do"))
	}
	if err := act(c, form); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	return answer{status: http.StatusSeeOther, contentType: "text/plain"}.with("Location", c.path(""))
}

func redeliverForm(c *control, f url.Values) error {
	if _, problem := c.world.redeliver(f.Get("id")); problem != nil {
		return errors.New(problem.Message)
	}
	return nil
}

func settleForm(c *control, f url.Values) error {
	_, _, problem := c.world.moveIntent(f.Get("id"), c.baseURL, stepSettle, f.Get("outcome"))
	if problem != nil {
		return errors.New(problem.Message)
	}
	return nil
}

func profileForm(c *control, f url.Values) error {
	var with *seed
	if text := f.Get("seed"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("seed: %q is not a whole number", text)
		}
		chosen := seed(n)
		with = &chosen
	}
	_, err := c.world.setProfile(f.Get("name"), with)
	return err
}

// addRuleForm makes a rule of what a person filled in; params is a text like "mode=rst;ms=100".
func addRuleForm(c *control, f url.Values) error {
	faults, problem := readFaults(f.Get("fault") + ";" + f.Get("params"))
	if problem != nil {
		return errors.New(problem.Message)
	}
	if len(faults) != 1 {
		return errors.New("a rule has one fault")
	}
	r := rule{Fault: faults[0], Match: condition{PathGlob: f.Get("path"), KeyGlob: f.Get("key"), Event: f.Get("event")}}
	if faultKinds[r.Fault.Name].strike == nil && r.Match.Event == "" {
		r.Match.Event = "*"
	}
	if text := strings.TrimSpace(f.Get("times")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("times: %q is not a whole number", text)
		}
		r.Times = n
	}
	if text := strings.TrimSpace(f.Get("percent")); text != "" {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("percent: %q is not a number", text)
		}
		share := percent / 100
		r.Match.Probability = &share
	}
	if err := r.check(); err != nil {
		return err
	}
	_, err := c.world.putRule(r)
	return err
}
