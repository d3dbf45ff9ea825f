import { SCOPES, TIERS } from '../../src/kernel/caller'
import { iso } from '../../src/kernel/clock'
import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { expectData } from '../failure'
import { type PageQuery, pageFlags, printPages } from '../pages'
import { findKey } from '../resolve'
import { prepareSecret, SECRET_FLAGS } from '../secret'
import type { Shell } from '../shell'
import { requireReason } from '../shell'
import { choice, choices, duration, flag, repeated, text, whole, wholeCents } from '../words'
import { checkKey, rotateKey, updateKey } from './keys-change'
import { apis, columns, detailColumns, keyArgument } from './keys-columns'
import { inputOf, tenantInputOf } from './keys-input'
import { reporting } from './usage'

const listKeys = defineCommand({
  path: 'keys list',
  summary: 'List API keys, newest first',
  about:
    "On the server's machine it lists all keys. Over --url it lists the keys that the key in use can manage. Secrets are never shown, because the server stores only their hashes.",
  examples: ['keys list', 'keys list --org acme --json', 'keys list --unused 90d', 'keys list --all -o csv > keys.csv'],
  apis,
  impact: 'read',
  exits: [3],
  columns,
  watchable: true,
  flags: {
    revoked: flag('include revoked and expired keys'),
    unused: duration('90d', 'only keys that were not used for this long'),
    ...pageFlags,
  },
  async run(shell, { revoked, unused, ...paging }) {
    const before = unused === undefined ? null : shell.clock.now() - unused
    const { api } = await apiOf(shell)
    const narrowed = {
      ...(shell.globals.org ? { org: shell.globals.org } : {}),
      ...(revoked ? {} : { live: true as const }),
    }
    const page = async (input: PageQuery) => {
      const found = expectData(await api.keys.get({ query: { ...input, ...narrowed } }))
      // The time of last use, or of creation for a key that was never used.
      const items = found.keys.filter(
        (key) =>
          (revoked || key.status !== 'revoked') &&
          (before === null || Date.parse(key.last_used_at ?? key.created) < before),
      )
      return { items, next: found.next_cursor }
    }
    await printPages(shell, paging, { page, columns, empty: 'No keys. Create one: svc-admin keys create --name NAME' })
  },
})

const getKey = defineCommand({
  path: 'keys get',
  summary: 'Show one API key with its limits, caps and use',
  about:
    'Shows everything except the secret, which is shown only when the key is created. If a secret is lost, replace it with keys rotate.',
  examples: ['keys get "Dev laptop"', 'keys get 3f9a01 --json'],
  apis,
  impact: 'read',
  exits: [3],
  columns: detailColumns,
  watchable: true,
  args: keyArgument,
  async run(shell, { key }) {
    const found = await findKey((await apiOf(shell)).api, key)
    shell.print.item({ ...found, ...(await useOf(shell, found.id)) }, detailColumns)
  },
})

/** How much of its minute a key has used; only operators of a running server can see that. */
async function useOf(shell: Shell, id: string): Promise<{ now?: { rpm: string; tpm: string } }> {
  const { api, transport, ops } = await shell.connect()
  if (api === 'tenant' || transport.kind === 'local') return {}
  const { usage } = expectData(await ops().keys({ ref: id }).limits.get())
  const share = ({ limit, remaining }: { limit: number; remaining: number }) =>
    `${Math.round(((limit - remaining) / limit) * 100)}%`
  return { now: { rpm: share(usage.requests), tpm: share(usage.tokens) } }
}

const createKey = defineCommand({
  path: 'keys create',
  summary: 'Create an API key and show its secret once',
  about:
    "By default the key has every scope and is on the free tier. It belongs to the account that the first start created, or to that account's active org. --org, --user and --personal choose another owner. If the server has no account yet, an account and an org are created first.",
  examples: [
    'keys create --name ci',
    'keys create --name web --scopes completions --tier pro --origin https://app.example',
    'keys create --name ci -q --secret-to - | gh secret set SVC_API_KEY',
  ],
  apis,
  impact: 'write',
  danger: 'secret once',
  exits: [3, 5],
  columns,
  flags: {
    name: text('NAME', 'what the key is for'),
    user: text('USER', 'the account that the key acts for: id or e-mail address'),
    personal: flag("create the user's own key, paid from their own balance"),
    scopes: choices(SCOPES, 'what the key can be used for; everything by default'),
    tier: choice(TIERS, 'tier of its rate limits; for operators only'),
    dailyCap: wholeCents('AMOUNT', 'maximum spend per day: 5.00 or 500c'),
    monthlyCap: wholeCents('AMOUNT', 'maximum spend per month: 50.00 or 5000c'),
    rpm: whole('N', 'requests per minute, at most what the tier allows', { min: 1, max: 1_000_000_000 }),
    tpm: whole('N', 'tokens per minute, at most what the tier allows', { min: 1, max: 1_000_000_000 }),
    origin: repeated('URL', 'a web origin that can use it'),
    expires: text('WHEN', 'when it expires: 90d from now, or an ISO date'),
    prefix: choice(['live', 'test'], 'marks the key as live or test; calls of both are billed'),
    ...SECRET_FLAGS,
  },
  async run(shell, input) {
    const params = inputOf(input, shell.globals.org, shell.clock.now())
    const title = params.name ? `"${params.name}"` : '"API Key"'
    if (shell.planned(`create key ${title}`)) return
    const outlet = prepareSecret(shell, 'key', input)
    try {
      const { api, isOperator } = await apiOf(shell)
      const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
      const body = isOperator ? params : tenantInputOf(params)
      const made = expectData(await api.keys.post(body, { headers }))
      outlet.deliver(made, columns)
      if (isOperator) await sayIfUnpaid(shell, made.org_id ?? input.user)
    } catch (error) {
      outlet.abandon()
      throw error
    }
  },
})

/** A key whose owner has no credit answers 402 from the first call on. */
async function sayIfUnpaid(shell: Shell, owner: string | undefined): Promise<void> {
  if (owner === undefined) return
  const { data } = await (await shell.connect()).ops().credits.get({ query: { owner } })
  if (!data || data.available_cents > 0) return
  shell.note(`Calls with this key are paid by ${data.owner}, which has no credit yet. They get 402 until you add some:`)
  shell.note(`  svc-admin credits grant ${owner.replace(/^([0-9a-f]{8})-.*/, '$1')} 10.00 --reason "first credit"`)
}

const revokeKey = defineCommand({
  path: 'keys revoke',
  summary: 'Revoke an API key, at once and permanently',
  about: 'This cannot be undone. Running requests finish. The next request with this key gets 401.',
  examples: ['keys revoke ci --reason "left the team"', 'keys revoke 3f9a01 --yes --reason rotated --json'],
  apis,
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns,
  args: keyArgument,
  async run(shell, { key }) {
    const reason = requireReason(shell, 'keys revoke')
    const { api } = await apiOf(shell)
    const found = await findKey(api, key)
    const title = `key "${found.name}" (${found.prefix}…)`
    if (shell.planned(`revoke ${title}`)) return
    if (found.status === 'revoked') {
      shell.print.item(found, columns)
      shell.note(`${title} is already revoked.`)
      return
    }
    shell.confirm(`Revoke ${title}? This cannot be undone.`)
    const calls = await callsOfLastHour(shell, found.id)
    const one = api.keys({ ref: found.id })
    expectData(await one.delete())
    shell.print.item(expectData(await one.get()), columns)
    shell.note(`Revoked ${title}${calls}: ${reason}`)
  },
})

/** Part of a sentence: the calls that revoking would stop. Empty over --url, where a key may not see all calls. */
async function callsOfLastHour(shell: Shell, id: string): Promise<string> {
  if (!(await apiOf(shell)).isOperator) return ''
  const { totals } = await reporting(shell)({ key_id: id, from: iso(shell.clock.now() - 3_600_000) })
  return `, which had ${totals.requests} ${totals.requests === 1 ? 'call' : 'calls'} in the last hour`
}

export const keyCommands = [listKeys, getKey, createKey, updateKey, rotateKey, checkKey, revokeKey]
