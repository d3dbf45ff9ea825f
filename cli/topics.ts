/** Help topics that are no command (dx 2.8): what holds for all commands, each as lines of at most 80 columns. */
export const TOPIC_PAGES: Readonly<Record<string, string>> = {
  output: `Output formats

-o FORMAT   table, wide, json, jsonl, yaml, csv, id (one per line), none;
            doctor also has nagios and prometheus
--json      the same as -o json
--fields    columns or members to print; --fields ? lists them
--query     a JMESPath expression over the JSON answer

Data goes to standard output, everything else to standard error. In JSON a list
is an array of the objects that the API returns, and a single item is an object.
csv is UTF-8 without a byte order mark. The files of the export commands begin
with one, so that Excel reads them correctly.
A pipe gets the same table in full and without colour. Commands that keep
printing, such as events tail or --watch, print a table on a terminal and JSON
lines in a pipe.
An error in a JSON format is the API's error object with exit_code and hint.

  svc-admin keys list --json | jq '.[0].id'
  svc-admin keys list --query "[?tier=='free'].id"`,
  filters: `Filter the rows of a list with --filter, as in the dashboard

word          any column contains it
name:word     this column contains it
status:a,b    one of these
cost:>=400    compared as numbers
age:>5m       older than five minutes; works for any column with a time
name:shop*    * matches any text
!word         not this

Several conditions must all match. Quote a value that contains spaces.

  svc-admin jobs list --filter "failed type:video age:>1h"`,
  remote: `Servers on other machines

--url URL        address of the API for an API key (svc_sk_…), or of
                 SVC_OPS_LISTEN for an operator key (svc_op_…)
--key-file FILE  file that contains the key; or SVC_OPERATOR_KEY_FILE
--profile NAME   both under one name; save them with profiles add

Without these flags a command uses ops.sock in the data folder. If no server
runs, it opens the data folder itself. svc-admin status shows which one it used.
Other machines need https, because the key is sent with each request.

  svc-admin profiles add prod --url https://ops.svc.example --production
  svc-admin profiles use prod`,
  secrets: `How to pass secrets in and get them out

In: from a file (--from-file FILE), from standard input (-), or from a hidden
prompt. Never as the value of a flag, because other users can see it in ps.

Out: a new key or signing secret is printed once, on standard output. --secret-to
FILE writes it to a file that only you can read, and prints the prefix.
--secret-to - with -q prints only the secret. --copy copies it to the clipboard
through the terminal.

  svc-admin keys create --name ci -q --secret-to - | gh secret set SVC_API_KEY`,
  agents: `For programs that run svc-admin

svc-admin commands -o json   every command with its flags, columns, exit codes
                             and impact: ro reads, rw changes
--json --no-input            JSON output, and no questions
--dry-run --exit-code        show what would change; exit 10 if there is a change
--yes, --confirm NAME        answer a confirmation in advance
--idempotency-key KEY        a change with the same key is made only once
--reason TEXT                reason for the audit record; some commands need one

Rely on exit codes, not on sentences: svc-admin help exit-codes. An error in JSON
has code, exit_code, and hint, which is a command that you can run.`,
}
