import type { ApiKey, NewKey, NewOperatorKey, OperatorKeyPatch } from '../../src/accounts/keys/schema'
import { CHAT_PARAMETERS, SCOPES, TIERS } from '../../src/kernel/caller'
import { iso } from '../../src/kernel/clock'
import { centsToMicro, spellCents } from '../../src/kernel/money'
import { counted } from '../../src/kernel/text'
import type { NewRule } from '../../src/routing/schema'
import { apiOf, assertOperator, columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readValueFile } from '../files'
import type { JsonObject } from '../output/json'
import { findKey, itemFlag, resolveKey } from '../resource'
import { readSecretInput } from '../secret'
import type { Shell } from '../shell'
import {
  argument,
  choice,
  choices,
  duration,
  type Flag,
  type FlagsGiven,
  flag,
  moment,
  orNone,
  readDuration,
  repeated,
  text,
  whole,
  wholeCents,
} from '../words'
import { reporting } from './usage'

/** Spending against the daily cap or else the monthly one, `1.20/5.00 day`. Without caps, today's spending. */
function spendOfCap(key: JsonObject): string {
  const of = (spent: unknown, cap: unknown, period: string) => `${cents(spent)}/${cents(cap)} ${period}`
  if (key.daily_cap_cents !== null) return of(key.spent_today_cents, key.daily_cap_cents, 'day')
  if (key.monthly_cap_cents !== null) return of(key.spent_month_cents, key.monthly_cap_cents, 'month')
  return `${cents(key.spent_today_cents)}/-`
}

const cents = (value: unknown): string => spellCents(centsToMicro(Number(value)))

/** The columns of a key. */
export const columns = columnsOf`
  id, name NAME, prefix PREFIX keep,
  org_id ORG keep min ${({ org_id }, whole) => (org_id ? String(org_id).slice(0, whole ? 36 : 8) : 'personal')},
  tier TIER keep, status STATUS keep, scopes SCOPES list min, spent_today_cents SPEND/CAP¢ number ${spendOfCap},
  daily_cap_cents CAP/DAY¢ money wide, spent_month_cents MONTH¢ money wide, monthly_cap_cents CAP/MONTH¢ money wide,
  rpm_limit RPM number wide, tpm_limit TPM number wide, allowed_origins ORIGINS list wide,
  chat_parameters CHAT-PARAMETERS wide, last_used_at LAST-USED time, created CREATED time wide, expires_at EXPIRES time wide`

/** One key in full, with its attachments and its use of the current minute (docs/operating.md 2.9). */
const detailColumns = [
  ...columns,
  ...columnsOf`
    routing_preference_id ROUTING wide,
    routing_rules RULES ${({ routing_rules }) => String((routing_rules as unknown[]).length)},
    guardrail_policy_id GUARDRAILS wide, now.rpm NOW-RPM, now.tpm NOW-TPM`,
]

/** Operators see every owner's keys. A key with --url sees those it may manage. */
export const apis = ['operator', 'tenant'] as const
export const keyArgument = { key: argument('id, 6 or more characters of it, prefix or name of a key') }

const LIMIT = { min: 1, max: 1_000_000_000 }
const limits = {
  tier: choice(TIERS, 'tier of its rate limits; for operators only'),
  dailyCap: wholeCents('AMOUNT', 'maximum spend per day: 5.00 or 500c'),
  monthlyCap: wholeCents('AMOUNT', 'maximum spend per month: 50.00 or 5000c'),
  rpm: whole('N', 'requests per minute, at most what the tier allows', LIMIT),
  tpm: whole('N', 'tokens per minute, at most what the tier allows', LIMIT),
}
const chatParameters = choice(CHAT_PARAMETERS, 'whether chats honor top_p and the like; by_base: as their base address')
const createFlags = {
  name: text('NAME', 'what the key is for'),
  user: text('USER', 'the account that the key acts for: id or e-mail address'),
  personal: flag("create the user's own key, paid from their own balance"),
  scopes: choices(SCOPES, 'what the key can be used for; everything by default'),
  ...limits,
  origin: repeated('URL', 'a web origin that can use it'),
  chatParameters,
  expires: text('WHEN', 'when it expires: 90d from now, or an ISO date'),
  prefix: choice(['live', 'test'], 'marks the key as live or test; calls of both are billed'),
}
const updateFlags = {
  name: text('NAME', 'another name'),
  scopes: choices(SCOPES, 'what the key can be used for from now on'),
  tier: limits.tier,
  dailyCap: orNone(limits.dailyCap),
  monthlyCap: orNone(limits.monthlyCap),
  rpm: orNone(limits.rpm),
  tpm: orNone(limits.tpm),
  origin: repeated('URL', 'a web origin that can use it; replaces the current list, and none allows all origins'),
  chatParameters,
  expires: text('WHEN', 'when it expires: 90d from now, or an ISO date; none removes it'),
}

type Change = FlagsGiven<typeof updateFlags>

/** Request members that both create and update accept. Omitted flags do not appear. */
function membersOf({ origin, expires, dailyCap, monthlyCap, rpm, tpm, chatParameters, ...same }: Change, now: number) {
  return defined({
    ...same,
    daily_cap_cents: dailyCap,
    monthly_cap_cents: monthlyCap,
    rpm_limit: rpm,
    tpm_limit: tpm,
    allowed_origins: origin,
    chat_parameters: chatParameters,
    expires_at: expires && moment(expires, now),
  })
}

/** The request body of `keys create`. */
function inputOf({ user, personal, prefix, ...input }: FlagsGiven<typeof createFlags>, { globals, clock }: Shell) {
  const { org } = globals
  if (org && user) throw usageFailure('--org and --user name two owners. Leave one out.')
  const own = { org, user, personal: personal || undefined, test: prefix === 'test' || undefined }
  return defined({ ...membersOf(input, clock.now()), ...own }) as NewOperatorKey
}

function changeOf({ origin, expires, ...input }: Change, { clock }: Shell): OperatorKeyPatch {
  const isOpen = origin?.join() === 'none'
  const isEndless = expires === 'none'
  const named = { ...input, origin: isOpen ? [] : origin, expires: isEndless ? undefined : expires }
  return { ...membersOf(named, clock.now()), ...(isEndless ? { expires_at: null } : {}) }
}

const DAY_MS = 86_400_000
/** A duration that may also be `0`, without a unit. */
const grace: Flag<number | undefined> = {
  ...duration('24h', 'how long the old secret still works; 0 stops it at once'),
  read: (word) => (word === '0' ? 0 : readDuration(word)),
}
const checkColumns = [...columns, ...columnsOf`known KNOWN flag`]
const ID = '2f0f6c4e-8a35-4c1b-9d52-0a4f1f1f7c11'
const bound = columnsOf`
  id ID, name NAME, routing_preference_id ROUTING, routing_rules RULES list, guardrail_policy_id GUARDRAILS`

const args = keyArgument
const command = commandsOf('keys', { apis, columns, args })

export const keyCommands = [
  command`list (pages keys): List API keys, newest first
  On the server's machine it lists all keys. Over --url it lists the keys that the key in use can manage. Secrets are never shown, because the server stores only their hashes.
  $ keys list
  $ keys list --org acme --json
  $ keys list --unused 90d
  $ keys list --all -o csv > keys.csv`({
    flags: {
      revoked: flag('include revoked and expired keys'),
      unused: duration('90d', 'only keys that were not used for this long'),
    },
    request: ({ api, page, shell }, { revoked }) =>
      api.keys.get({
        query: defined({ ...page, org: shell.globals.org || undefined, live: revoked ? undefined : (true as const) }),
      }),
    shown({ keys }, { revoked, unused }, { clock }) {
      const before = unused === undefined ? Number.POSITIVE_INFINITY : clock.now() - unused
      // The time of last use, or of creation for a key that was never used.
      const isUnused = ({ last_used_at, created }: ApiKey) => Date.parse(last_used_at ?? created) < before
      return keys.filter((key) => (revoked || key.status !== 'revoked') && isUnused(key))
    },
    empty: 'No keys. Create one: svc-admin keys create --name NAME',
  }),
  command`get KEY: Show one API key with its limits, caps and use
  Shows everything except the secret, which is shown only when the key is created. If a secret is lost, replace it with keys rotate.
  $ keys get "Dev laptop"
  $ keys get 3f9a01 --json`({
    columns: detailColumns,
    async answer({ api, shell }, { key }): Promise<object> {
      const found = await findKey(api, key)
      const { api: plane, transport, ops } = await shell.connect()
      // Only operators of a running server can see how much of its minute a key has used.
      if (plane === 'tenant' || transport.kind === 'local') return found
      const { usage } = expectData(await ops().keys({ ref: found.id }).limits.get())
      const share = ({ limit, remaining }: { limit: number; remaining: number }) =>
        `${Math.round(((limit - remaining) / limit) * 100)}%`
      return { ...found, now: { rpm: share(usage.requests), tpm: share(usage.tokens) } }
    },
  }),
  command`create (secret once, delivers key): Create an API key and show its secret once
  By default the key has every scope and is on the free tier. It belongs to the account that the first start created, or to that account's active org. --org, --user and --personal choose another owner. If the server has no account yet, an account and an org are created first.
  $ keys create --name ci
  $ keys create --name web --scopes completions --tier pro --origin https://app.example
  $ keys create --name ci -q --secret-to - | gh secret set SVC_API_KEY`({
    flags: createFlags,
    action: (input, shell) => `create key "${inputOf(input, shell).name || 'API Key'}"`,
    request({ api, isOperator, headers, shell }, input) {
      const body = inputOf(input, shell)
      if (isOperator) return api.keys.post(body, { headers })
      const { org, user, personal, tier, ...same } = body
      if (tier || user)
        throw usageFailure('--tier and --user are for operators. Over --url every new key starts on the free tier.')
      const scope = personal ? ('personal' as const) : undefined
      return api.keys.post(defined({ ...same, org_id: org || undefined, scope }) satisfies NewKey, { headers })
    },
    async note({ org_id }, { user }, shell) {
      const owner = org_id ?? user
      const { api, ops } = await shell.connect()
      if (api === 'tenant' || owner === undefined) return undefined
      // A key whose owner has no credit answers 402 from the first call on.
      const { data } = await ops().credits.get({ query: { owner } })
      if (!data || data.available_cents > 0) return undefined
      return `Calls with this key are paid by ${data.owner}, which has no credit yet. They get 402 until you add some:
  svc-admin credits grant ${owner.replace(/^([0-9a-f]{8})-.*/, '$1')} 10.00 --reason "first credit"`
    },
  }),
  command`update KEY: Change the name, scopes, limits, caps and other settings of a key
  Takes effect with the next request. Settings that you do not name stay the same. Limits can only be lower than those of the key's tier. Only operators can change the tier.
  $ keys update ci --tier pro
  $ keys update web --origin https://app.example --origin https://www.app.example
  $ keys update 3f9a01 --daily-cap 5.00 --rpm none --json`({
    flags: updateFlags,
    async find(shell, { key, ...input }) {
      const change = changeOf(input, shell)
      if (!Object.keys(change).length)
        throw usageFailure('keys update needs at least one flag.', 'svc-admin keys update --help')
      return { change, before: await findKey((await apiOf(shell)).api, key) }
    },
    action: ({ change, before }) => `set ${Object.keys(change).join(', ')} of key "${before.name}"`,
    request({ api, isOperator }, { change, before }) {
      const instead = 'The owner of a key can request more with POST /rate-limits/request-increase.'
      assertOperator(isOperator, change.tier !== undefined, `--tier is for operators. ${instead}`)
      return api.keys({ ref: before.id }).put(change)
    },
    note: (_, { change, before }) =>
      change.tier && `undo: svc-admin keys update ${before.id.slice(0, 8)} --tier ${before.tier}`,
  }),
  command`rotate KEY (moderate, delivers key): Give a key a new secret and show it once
  Everything else about the key stays the same. The old secret works for the time of --grace, so that its users can switch. The default is 24h and the maximum is 7d. With --grace 0 the old secret stops at once.
  $ keys rotate ci --yes --secret-to new.key
  $ keys rotate 3f9a01 --grace 0 --yes --json`({
    flags: { grace },
    async find(shell, { key, grace = DAY_MS }) {
      if (grace > 7 * DAY_MS)
        throw usageFailure(`--grace is ${Math.ceil(grace / DAY_MS)} days; it can be at most 7.`, '--grace 7d')
      return { grace, ...(await titled(shell, key)) }
    },
    action: ({ title }) => `rotate ${title}`,
    question: ({ title, grace }) =>
      `Give ${title} a new secret? The old one ${grace === 0 ? 'stops at once' : `works for another ${grace / 3_600_000} h`}.`,
    request: ({ api, headers }, { found, grace }) =>
      api.keys({ ref: found.id }).rotate.post({ grace_period_seconds: Math.floor(grace / 1_000) }, { headers }),
    note: ({ previous_key_expires_at }, { found }) =>
      `The old secret (${found.prefix}…) expires at ${previous_key_expires_at}.`,
  }),
  command`check (operator, exits 9): Show the owner of a key's secret and whether it works
  Reads the whole key from --from-file, stdin or a hidden prompt, and never prints it. Exits 9 when the key is unknown or does not work.
  $ keys check --from-file old.key
  $ keys check --from-file - --json`({
    columns: checkColumns,
    flags: { fromFile: text('FILE', 'a file that contains the key; - reads stdin') },
    async run(shell, { fromFile }) {
      const secret = await readSecretInput(shell, { label: 'API key', fromFile, instead: 'add --from-file FILE' })
      const { known, key } = expectData(await (await shell.connect()).ops().keys.check.post({ key: secret }))
      if (key) shell.print.item({ ...key, known }, checkColumns)
      else {
        const why = 'It may be mistyped, replaced by a rotation, or a key of another server.'
        shell.note(`No key of this server has this secret. ${why}`)
      }
      if (key === null || key.status === 'revoked') throw new CheckFailed()
    },
  }),
  command`revoke KEY (moderate, reason, shows key): Revoke an API key, at once and permanently
  This cannot be undone. Running requests finish. The next request with this key gets 401.
  $ keys revoke ci --reason "left the team"
  $ keys revoke 3f9a01 --yes --reason rotated --json`({
    find: (shell, { key }) => titled(shell, key),
    action: ({ title }) => `revoke ${title}`,
    question: ({ found }) => (found.status === 'revoked' ? null : ' This cannot be undone.'),
    async answer({ api, isOperator, shell }, { found: key }) {
      if (key.status === 'revoked') return { key, calls: null }
      // A key may not see all calls, so only operators are told how many there were.
      const lately = { key_id: key.id, from: iso(shell.clock.now() - 3_600_000) }
      const count = isOperator ? (await reporting(shell)(lately)).totals.requests : null
      const calls = count === null ? '' : `, which had ${counted(count, 'call')} in the last hour`
      const one = api.keys({ ref: key.id })
      expectData(await one.delete())
      return { key: expectData(await one.get()), calls }
    },
    note: ({ calls }, { title }, { globals }) =>
      calls === null ? `${title} is already revoked.` : `Revoked ${title}${calls}: ${globals.reason}`,
  }),
  command`bind KEY (tenant, exits 3): Bind a routing preference, rules or guardrails to a key
  Uses the owner of the key in use, and takes effect at once. Settings that you do not name stay the same; none removes one.
  $ keys bind ${ID} --routing none
  $ keys bind ci --rules rules.json --guardrails none --json`({
    columns: bound,
    flags: {
      routing: orNone(itemFlag('routing-preferences', 'id or name of a routing preference')),
      rules: orNone(text('FILE', 'a list of routing rules as JSON, JSONC or YAML')),
      guardrails: orNone(itemFlag('guardrail-policies', 'id or name of a guardrail policy')),
    },
    async find(shell, { key, routing, rules, guardrails }) {
      const fix = `svc-admin keys bind ${key} --routing none`
      if (routing === undefined && rules === undefined && guardrails === undefined)
        throw usageFailure('keys bind needs --routing, --rules or --guardrails.', fix)
      const read = typeof rules === 'string' ? ((await readValueFile(shell, rules)) as NewRule[]) : []
      return { read, id: await resolveKey((await apiOf(shell, { own: true })).api, key) }
    },
    action: ({ key }) => `change what is bound to key ${key}`,
    async answer({ client }, { id, read, routing, rules, guardrails }) {
      const one = client.keys({ id })
      let latest: object = {}
      if (routing !== undefined)
        latest = expectData(await one['routing-preference'].put({ routing_preference_id: routing }))
      if (rules !== undefined) latest = expectData(await one['routing-rules'].put({ rules: read }))
      if (guardrails !== undefined) latest = expectData(await one.guardrails.put({ guardrail_policy_id: guardrails }))
      return latest
    },
  }),
]

/** Finds the key that a word names, and its title for sentences. */
async function titled(shell: Shell, key: string) {
  const found = await findKey((await apiOf(shell)).api, key)
  return { found, title: `key "${found.name}" (${found.prefix}…)` }
}
