/** A command that was agreed: what it must offer, at the least. */
export type Agreed = {
  command: string
  /** Where it works: T with an API key, O as an operator, L with the server down, H on this machine. */
  places: readonly string[]
  flags: readonly string[]
  /** How it asks: `-` not at all, `y`, `name`, `once` for a secret that is shown once; `?` depends on its flags. */
  asks: string
  /** Codes besides 0, 1 and 2. */
  exits: readonly number[]
  /** Whether it wants a reason. */
  reason: boolean
}

/** The tree of docs/operating.md 2.8 to 2.19: command, places, how it asks (R: with a reason), flags, exit codes. */
const TREE = `
init                 H    ?      --public-url --port --production --print --force --database-from      5 10
serve                H    -      --dev --host --port --unix --log-format --log-level --migrate --roles --no-browser
status               OL   -      --check                                                               7 9
doctor               OL   ?      --fix --only --skip --bundle                                          9
dashboard            O    -      --screen --read-only --refresh --screen-reader --bell                 7
top                  O    -      --screen
try                  OL   -      --stream --mode --skills --file                                       4 6 7
trace                OL   -      --open                                                                3 7
logs tail            O    -      --since --until --status --path --method --key --min-ms --code --last 7
logs show            O    -      --since --until --status --path --method --key --min-ms --code --last 7
config get           H    -
config set           H    -      --user                                                                10
config unset         H    -      --user                                                                10
config list          H    -
config path          H    -
config check         H    -                                                                            9
config explain       H    -
profiles list        H    -
profiles add         H    -      --production --key-from-file                                          10
profiles use         H    -                                                                            3 10
profiles show        H    -                                                                            3
profiles remove      H    y                                                                            3 10
operators list       O    -
operators add        O    once   --role --expires                                                      4 5 10
operators rotate     O    y                                                                            3 4 10
operators revoke     O    y                                                                            3 4 10
keyring status       H    -                                                                            9
keyring rotate       H    name   --from-file                                                           10
migrate status       H    -                                                                            9
migrate plan         H    -
migrate up           H    -      --to --no-backup                                                      5 10
migrate down         H    name                                                                         3 10
migrate verify       H    -                                                                            9
backup create        OL   -      --out --no-artifacts --encrypt-to                                     10
backup list          OL   -
backup verify        HL   -                                                                            9
backup prune         OL   y      --keep                                                                10
restore              HL   ?      --into --only                                                         5 9 10
openapi              OL   -      --check --out                                                         10
completion           H    -      --install
help                 H    -
cheat                H    -
commands             H    -
version              H    -
keys list            TOL  -      --unused --revoked                                                    4 7
keys get             TOL  -                                                                            3 4 7
keys create          TOL  once   --name --personal --scopes --tier --daily-cap --monthly-cap --rpm --origin --expires --prefix --secret-to --copy 5 10
keys update          TOL  -      --name --scopes --tier --daily-cap --monthly-cap --rpm --origin --expires 3 10
keys rotate          TOL  y      --grace --secret-to --copy                                            3 5 10
keys revoke          TOL  yR                                                                           3 10
keys bind            TL   -      --guardrails --routing --rules                                        3 10
keys check           OL   -                                                                            9
limits show          TO   -                                                                            3
orgs list            OL   -
orgs get             OL   -                                                                            3
orgs create          OL   -      --type --slug --plan-note                                             5 10
orgs update          OL   -      --type --slug --plan-note                                             3 5 10
orgs delete          OL   nameR  --export                                                              3 10
members list         OL   -      --permissions                                                         3
members add          OL   once   --role                                                                3 5 10
members update       OL   y      --role                                                                3 5 10
members remove       OL   y                                                                            3 5 10
users list           OL   -
users get            OL   -                                                                            3
users create         OL   once   --link                                                                5 10
users disable        OL   y                                                                            3 10
users enable         OL   -                                                                            3 10
users sessions       OL   y                                                                            3 10
policies guardrails list      OL   -
policies guardrails get       OL   -                                                                   3
policies guardrails create    OL   -  --file                                                           5 10
policies guardrails update    OL   -  --file                                                           3 10
policies guardrails delete    OL   y                                                                   3 10
policies guardrails builtins  OL   -
policies guardrails test      OL   -  --text --file --corpus                                           3 9
policies guardrails diff      OL   -  --file                                                           3
policies routing list         OL   -
policies routing get          OL   -                                                                   3
policies routing create       OL   -  --file                                                           5 10
policies routing update       OL   -  --file                                                           3 10
policies routing delete       OL   y                                                                   3 10
policies routing test         OL   -  --prompt --pref --key                                            3 9
policies routing suggest      OL   -  --apply                                                          3 10
policies routing corrections list OL -
policies set-default OL   -                                                                            3 10
policies unset-default OL -                                                                            3 10
policies apply       OL   ?      --file --prune                                                        10
policies export      OL   -      --out
guardrails list      OL   -
routing list         OL   -
skills list          TOL  -      --installed --category --status
skills get           TOL  -                                                                            3
skills versions      TOL  -                                                                            3
skills reviews       TOL  -                                                                            3
skills validate      HL   -                                                                            9
skills submit        T    -      --skill-id                                                            5 10
skills install       TO   -      --key                                                                 3 10
skills uninstall     TO   y      --key                                                                 3 10
skills disable       O    yR     --also-installed                                                      3 10
skills enable        O    yR                                                                           3 10
skills import        O    y                                                                            10
skills export        O    -      --out
submissions list     O    -      --status --tier --mine
submissions get      O    -                                                                            3
submissions diff     O    -      --tool --unified                                                      3
submissions checks   O    -      --rerun                                                               3
submissions claim    O    -                                                                            3 5 10
submissions unclaim  O    -                                                                            3 5 10
submissions approve  O    yR     --i-read-the-diff --note                                              3 5 10
submissions reject   O    yR     --code --note                                                         3 5 10
submissions stats    O    -
jobs list            TO   -      --status --type --key --older
jobs get             TO   -      --result --out                                                        3
jobs wait            TO   -                                                                            3 8 9
jobs cancel          TO   y                                                                            3 5 10
jobs retry           O    y      --all                                                                 3 5 10
jobs logs            O    -      --follow                                                              3
jobs queues          O    -
jobs pause           O    y                                                                            10
jobs resume          O    -                                                                            10
jobs purge           O    y      --before                                                              10
workflows list       TO   -
workflows get        TO   -                                                                            3
workflows create     TO   -      --file                                                                5 10
workflows update     TO   -      --file                                                                3 10
workflows delete     TO   y                                                                            3 10
workflows enable     TO   -                                                                            3 10
workflows disable    TO   -                                                                            3 10
workflows validate   H    -                                                                            9
workflows run        TO   -      --data --wait --step                                                  3 8 9
workflows runs list  TO   -                                                                            3
workflows runs get   TO   -                                                                            3
workflows runs cancel TO  y                                                                            3 5 10
workflows runs resume TO  -                                                                            3 5 10
hooks list           TO   -
hooks get            TO   -                                                                            3
hooks install        TO   -      --preset --pattern --skill --cooldown                                 3 5 10
hooks update         TO   -      --cooldown                                                            3 10
hooks enable         TO   -                                                                            3 10
hooks disable        TO   -                                                                            3 10
hooks delete         TO   y                                                                            3 10
hooks presets        TO   -
hooks runs           TO   -                                                                            3
hooks match          TO   -
events publish       TO   -      --file --source --repeat --every                                      10
events list          TO   -      --type
events tail          TO   -      --type
events types         H    -
events replay        TO   y                                                                            3 10
webhooks list        TO   -
webhooks get         TO   -                                                                            3
webhooks create      TO   once   --events --secret-to --copy                                           5 10
webhooks update      TO   -      --events                                                              3 10
webhooks delete      TO   y                                                                            3 10
webhooks test        TO   -      --no-wait                                                             3 9
webhooks rotate-secret TO once   --grace --secret-to --copy                                            3 10
webhooks enable      TO   -                                                                            3 10
webhooks disable     TO   -                                                                            3 10
webhooks stats       TO   -                                                                            3
webhooks events      H    -      --sample
webhooks listen      TO   -      --forward-to --events --print-secret --print-body
webhooks trigger     TO   -      --set --webhook                                                       3 10
webhooks sign        HL   -      --secret-file
webhooks verify      HL   -      --secret-file                                                         9
deliveries list      O    -      --webhook --status --event --since --http --limit
deliveries tail      O    -      --failed
deliveries get       O    -      --body                                                                3
deliveries replay    O    y      --all --rate --wait                                                   3 8 9 10
deliveries export    O    -      --out
widgets list         TO   -
widgets get          TO   -                                                                            3
widgets create       TO   -      --key --name --origin --accent --welcome --file                       5 10
widgets update       TO   -      --name --origin --accent --welcome --file                             3 10
widgets duplicate    TO   -                                                                            3 10
widgets enable       TO   -                                                                            3 10
widgets disable      TO   -                                                                            3 10
widgets delete       TO   y                                                                            3 10
widgets snippet      TO   -      --page                                                                3
widgets preview      TO   -      --open                                                                3
widgets verify-domain TO  -                                                                            3 9
takeovers list       TO   -
takeovers watch      TO   -      --bell --exec
takeovers take       TO   -      --steal                                                               3 5 10
takeovers attach     TO   -                                                                            3 5
takeovers reply      TO   -      --draft                                                               3 5 10
takeovers note       TO   -                                                                            3 10
takeovers handover   TO   -      --to                                                                  3 5 10
takeovers release    TO   -                                                                            3 10
takeovers transcript TO   -      --markdown                                                            3
takeovers link       O    once   --ttl                                                                 10
conversations list   TO   -      --key --since
conversations get    TO   -      --show-content                                                        3
conversations export TO   -      --key --since --out
conversations delete TO   y                                                                            3 10
conversations purge  O    nameR  --before                                                              3 10
browser list         TO   -
browser get          TO   -                                                                            3
browser create       TO   -      --page --keep-alive --proxy --region                                  6 10
browser live         TO   -      --read-only --open --ttl                                              3
browser steps        TO   -      --follow                                                              3
browser screenshot   TO   -      --out                                                                 3
browser end          TO   y      --all                                                                 3 10
browser doctor       HL   -                                                                            9
usage show           TO   -      --from --to --by
usage export         TO   -      --out
credits balance      TO   -                                                                            3
credits grant        OL   yR     --expires --note                                                      3 5 10
credits adjust       O    yR     --note                                                                3 5 10
credits ledger       O    -      --ref                                                                 3
credits caps set     O    -      --daily --monthly                                                     3 10
credits reconcile    O    y      --apply                                                               9 10
tiers list           O    -
tiers set            O    -R                                                                           3 10
tiers requests list  O    -
tiers requests get   O    -                                                                            3
tiers requests approve O  yR     --tier --note                                                         3 5 10
tiers requests deny  O    yR     --note                                                                3 5 10
audit list           TOL  -      --action --actor --entity --since --request
audit get            TOL  -                                                                            3
audit tail           TO   -      --action --actor --entity
audit verify         OL   -      --from --head                                                         9
audit head           O    -
audit export         TO   -      --sign --out
audit actions        O    -
engines list         OL   -
engines add          O    -      --kind --base-url --models --from-file --no-test                      5 9 10
engines update       O    -      --base-url --from-file --no-test                                      3 9 10
engines enable       O    -                                                                            3 10
engines disable      O    -                                                                            3 10
engines remove       O    y      --force                                                               3 5 10
engines map          O    -      --to                                                                  3 10
engines test         O    -      --mode                                                                3 9
engines prices show  O    -
engines prices set   O    -      --file                                                                10
cache stats          O    -
cache inspect        O    -      --prompt
cache purge          O    y      --scope                                                               10
artifacts list       O    -      --by
artifacts get        O    -                                                                            3
artifacts prune      O    y      --before                                                              10
dev seed             OL   name   --size --reset                                                        10
dev reset            HL   name                                                                         5 10
dev engine           H    -      --latency --fail-rate --chunk                                         10
dev sink             H    -      --status --delay
dev load             O    -      --rps --for
`

export const AGREED: readonly Agreed[] = TREE.trim()
  .split('\n')
  .map((line) => {
    const [, command, places, asks, rest] = /^(.+?) +([TOLH]+) +(-|\?|y|name|once)(?=R| |$)(.*)$/.exec(line)!
    return {
      command: command!,
      places: [...places!],
      asks: asks!,
      reason: rest!.startsWith('R'),
      flags: rest!.match(/--\S+/g) ?? [],
      exits: (rest!.match(/(?<= )\d+/g) ?? []).map(Number),
    }
  })
