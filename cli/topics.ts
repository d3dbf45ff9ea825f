/** Help topics that are no command (dx 2.8): what holds for all commands, each as lines of at most 80 columns. */
export const TOPIC_PAGES: Readonly<Record<string, string>> = {
  output: `How answers are printed

-o FORMAT   table, wide, json, jsonl, yaml, csv, id (one a line), none;
            doctor also nagios and prometheus
--json      the same as -o json
--fields    columns or members to print; --fields ? lists them
--query     a JMESPath expression over the JSON answer

Data goes to standard output, all else to standard error. A list in JSON is an
array of what the API returns, one thing is an object, and nothing wraps them.
csv is UTF-8 for programs. The files of export commands begin with a byte order
mark besides, so that Excel reads their letters.
A pipe gets the same table, whole and without colour. What goes on, such as
events tail or --watch, is a table on a terminal and JSON lines in a pipe.
An error in a JSON format is the envelope of the API with exit_code and hint.

  svc-admin keys list --json | jq '.[0].id'
  svc-admin keys list --query "[?tier=='free'].id"`,
  filters: `Which rows a list prints: --filter, as in the dashboard

word          any column holds it
name:word     that column holds it
status:a,b    one of these
cost:>=400    compared as numbers
age:>5m       older than five minutes; ages of any column of times
name:shop*    * stands for anything
!word         not that

Several of them are joined with "and". Quotes hold blanks.

  svc-admin jobs list --filter "failed type:video age:>1h"`,
  remote: `A server on another machine

--url URL        its address: the API for an API key (svc_sk_…), or that of
                 SVC_OPS_LISTEN for the key of an operator (svc_op_…)
--key-file FILE  the file that holds the key; or SVC_OPERATOR_KEY_FILE
--profile NAME   both under a name, kept by profiles add

Without them a command uses ops.sock in the data folder, and where no server
runs it opens the folder itself. svc-admin status says which way was taken.
Anything but this machine needs https, since the key goes along.

  svc-admin profiles add prod --url https://ops.svc.example --production
  svc-admin profiles use prod`,
  secrets: `How secrets come in and go out

In: from a file (--from-file FILE), from standard input (-), or typed where it
does not show. Never as the value of a flag, which others see in ps.

Out: a new key or signing secret is printed once, on standard output, and kept
as a hash. --secret-to FILE writes it for its owner only and prints the prefix;
--secret-to - with -q prints it alone; --copy hands it to the terminal.

  svc-admin keys create --name ci -q --secret-to - | gh secret set SVC_API_KEY`,
  agents: `For programs that drive svc-admin

svc-admin commands -o json   every command with its flags, columns, exit codes,
                             and impact: ro reads, rw changes
--json --no-input            data as JSON, and never a question
--dry-run --exit-code        what would change; exits 10 when something would
--yes, --confirm NAME        answers to what would be asked
--idempotency-key KEY        the same key never does the same thing twice
--reason TEXT                why, for the record; some commands want it

Read exit codes, not sentences: svc-admin help exit-codes. An error in JSON has
code, exit_code and hint, which is a command to run.`,
}
