package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"payonce/domain"
	"payonce/payment"
	"payonce/repository"
)

func (a *app) keys() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke the API keys of merchants",
		Long: "Make, list and revoke the API keys of merchants. To rotate a key, make a second one, bring it to where the first is used, and\n" +
			"revoke the first; both work meanwhile.",
		Example: "  payonce keys create --merchant mrc_acme --merchant-name Acme --role write --name 'web shop' >secret\n" +
			"  payonce keys list --merchant mrc_acme\n  payonce keys revoke key_... --merchant mrc_acme --in 24h",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.keysCreate(), a.keysList(), a.keysRevoke())
	return cmd
}

func (a *app) keysCreate() *cobra.Command {
	var key domain.APIKey
	var merchantName, role string
	var live bool
	cmd := &cobra.Command{
		Use:   "create --merchant ID",
		Short: "Make a key and show its secret, this once; the secret alone goes to standard output",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			key.Role, key.ID = domain.Role(role), payment.NewID("key")
			if err := usage(checkMerchant(key.MerchantID), checkRole(key.Role), checkName("--name", key.Name), checkName("--merchant-name", merchantName)); err != nil {
				return err
			}
			secret := domain.NewSecret(domain.SecretTest)
			if live {
				secret = domain.NewSecret(domain.SecretLive)
			}
			return a.withStore(repository.AsMerchant(cmd.Context(), key.MerchantID), func(ctx context.Context, store *repository.Store) error {
				merchantName, err := makeKey(ctx, store, key, secret, merchantName)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.err, "Key %s of %s (%s), role %s. Its secret is shown this once and kept nowhere; put it where secrets are kept:\n",
					key.ID, key.MerchantID, merchantName, key.Role)
				if _, err := fmt.Fprintln(a.out, secret); err != nil {
					return fmt.Errorf("the secret of %s could not be shown (%w): revoke the key and make another", key.ID, err)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&key.MerchantID, "merchant", "", "id of the merchant, such as mrc_acme")
	cmd.Flags().StringVar(&merchantName, "merchant-name", "", "make the merchant under this name, unless it exists")
	cmd.Flags().StringVar(&role, "role", string(domain.RoleWrite), "read, write or operator")
	cmd.Flags().StringVar(&key.Name, "name", "", "what the key is for, for people")
	cmd.Flags().BoolVar(&live, "live", false, "make a secret that begins with sk_live_ instead of sk_test_")
	return cmd
}

// makeKey writes the key, and the merchant when it has a name. When the commit is in doubt it writes the same once more:
// that waits for the transaction in doubt, and changes nothing if that has succeeded.
func makeKey(ctx context.Context, store *repository.Store, key domain.APIKey, secret, merchantName string) (called string, err error) {
	for range 3 {
		err = store.InTx(ctx, func(tx *repository.Tx) error {
			if merchantName != "" {
				if err := tx.EnsureMerchant(ctx, key.MerchantID, merchantName); err != nil {
					return err
				}
			}
			if err := tx.EnsureAPIKey(ctx, key, secret); err != nil {
				return err
			}
			called, err = tx.MerchantName(ctx, key.MerchantID)
			return err
		})
		if !errors.Is(err, repository.ErrCommitUnknown) {
			break
		}
	}
	if domain.CodeOf(err) == domain.CodeNotFound {
		return "", fmt.Errorf("there is no merchant %s: add --merchant-name NAME to make it", key.MerchantID)
	}
	return called, err
}

func (a *app) keysList() *cobra.Command {
	var merchant string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys, without their secrets, which nobody knows any more",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := repository.AsSystem(cmd.Context())
			if merchant != "" {
				if err := usage(checkMerchant(merchant)); err != nil {
					return err
				}
				ctx = repository.AsMerchant(ctx, merchant)
			}
			return a.withStore(ctx, func(ctx context.Context, store *repository.Store) error {
				keys, err := store.APIKeys(ctx, merchant)
				if err == nil && merchant != "" && len(keys) == 0 {
					_, err = store.MerchantName(ctx, merchant)
				}
				switch {
				case domain.CodeOf(err) == domain.CodeNotFound:
					return fmt.Errorf("there is no merchant %s: payonce keys list shows all that have keys", merchant)
				case err != nil:
					return err
				case asJSON:
					return json.NewEncoder(a.out).Encode(keys)
				}
				return a.showKeys(keys)
			})
		},
	}
	cmd.Flags().StringVar(&merchant, "merchant", "", "only the keys of this merchant")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON array instead of a table")
	return cmd
}

func (a *app) showKeys(keys []domain.APIKey) error {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tMERCHANT\tROLE\tNAME\tCREATED\tWORKS")
	for _, key := range keys {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", key.ID, key.MerchantID, key.Role, key.Name, key.CreatedAt.Format(time.RFC3339), works(key))
	}
	return table.Flush()
}

// works says until when a key works.
func works(key domain.APIKey) string {
	switch {
	case key.RevokedAt == nil:
		return "yes"
	case key.Revoked:
		return "no, revoked at " + key.RevokedAt.Format(time.RFC3339)
	default:
		return "until " + key.RevokedAt.Format(time.RFC3339)
	}
}

func (a *app) keysRevoke() *cobra.Command {
	var merchant string
	var after time.Duration
	cmd := &cobra.Command{
		Use:   "revoke KEY --merchant ID",
		Short: "End a key, now or after some time; a second run changes nothing, and an end is never put off",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage(checkKeyID(args[0]), checkMerchant(merchant), checkAfter(after)); err != nil {
				return err
			}
			return a.withStore(repository.AsMerchant(cmd.Context(), merchant), func(ctx context.Context, store *repository.Store) error {
				var key domain.APIKey
				err := store.InTx(ctx, func(tx *repository.Tx) (err error) {
					key, err = tx.RevokeAPIKey(ctx, merchant, args[0], after)
					return err
				})
				switch {
				case domain.CodeOf(err) == domain.CodeNotFound:
					return fmt.Errorf("%s has no key %s: payonce keys list shows which there are", merchant, args[0])
				case errors.Is(err, repository.ErrCommitUnknown):
					return fmt.Errorf("%w: run the same line again, it cannot do harm", err)
				case err != nil:
					return err
				}
				fmt.Fprintf(a.out, "%s of %s works: %s\n", key.ID, key.MerchantID, works(key))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&merchant, "merchant", "", "id of the key's merchant")
	cmd.Flags().DurationVar(&after, "in", 0, "let the key work for this long, for example 24h; without it, it ends now")
	return cmd
}

// usage makes one line of what is wrong with a command's arguments; nothing wrong is no error.
func usage(checks ...error) error {
	var wrong []string
	for _, err := range checks {
		if err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", errUsage, strings.Join(wrong, "; "))
}

func checkMerchant(id string) error {
	if !domain.IsMerchantID(id) {
		return fmt.Errorf("--merchant: %q is no merchant's id, which is mrc_ with small letters and digits behind it, such as mrc_acme", id)
	}
	return nil
}

func checkRole(role domain.Role) error {
	if !slices.Contains(domain.Roles(), role) {
		return fmt.Errorf("--role: %q is none of the roles, which are %v", role, domain.Roles())
	}
	return nil
}

var keyID = regexp.MustCompile(`^key_[0-9a-z]+$`)

// checkKeyID does not repeat what was typed: it may be the secret.
func checkKeyID(id string) error {
	if !keyID.MatchString(id) {
		return errors.New("the key is named by its id, key_..., which payonce keys list shows, and not by its secret")
	}
	return nil
}

func checkAfter(after time.Duration) error {
	if after < 0 {
		return errors.New("--in: must not be negative; without it the key ends now")
	}
	return nil
}

// checkName keeps names to what fits a line of the list.
func checkName(flag, name string) error {
	if utf8.RuneCountInString(name) > 100 || !utf8.ValidString(name) || slices.ContainsFunc([]rune(name), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%s: must be one line of at most 100 characters", flag)
	}
	return nil
}

// withStore runs a command that needs the database alone.
func (a *app) withStore(ctx context.Context, command func(context.Context, *repository.Store) error) error {
	c, _, err := a.load(needDatabase)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, c)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // the process ends
	return command(ctx, store)
}
