import type { ApiKey, OperatorKeyPatch } from '../../src/accounts/keys/schema'
import { SCOPES, TIERS } from '../../src/kernel/caller'
import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf, assertOperator } from '../api'
import { defineCommand, type Flag } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { findKey } from '../resolve'
import { prepareSecret, SECRET_FLAGS } from '../secret'
import { readSecretInput } from '../secret-input'
import { choice, choices, duration, orNone, readDuration, repeated, text, whole, wholeCents } from '../words'
import { apis, columns, keyArgument } from './keys-columns'
import { moment } from './keys-input'

const LIMIT = { min: 1, max: 1_000_000_000 }
const DAY_MS = 86_400_000
const TIER_IS_REQUESTED_FOR =
  '--tier is for operators. The owner of a key can request more with POST /rate-limits/request-increase.'
const MAX_GRACE_MS = 7 * DAY_MS

export const updateKey = defineCommand({
  path: 'keys update',
  summary: 'Change the name, scopes, limits, caps, origins or expiry of a key',
  about:
    "Takes effect with the next request. Settings that you do not name stay the same. Limits can only be lower than those of the key's tier. Only operators can change the tier.",
  examples: [
    'keys update ci --tier pro',
    'keys update web --origin https://app.example --origin https://www.app.example',
    'keys update 3f9a01 --daily-cap 5.00 --rpm none --json',
  ],
  apis,
  impact: 'write',
  exits: [3, 5],
  columns,
  args: keyArgument,
  flags: {
    name: text('NAME', 'another name'),
    scopes: choices(SCOPES, 'what the key can be used for from now on'),
    tier: choice(TIERS, 'tier of its rate limits; for operators only'),
    dailyCap: orNone(wholeCents('AMOUNT', 'maximum spend per day: 5.00 or 500c')),
    monthlyCap: orNone(wholeCents('AMOUNT', 'maximum spend per month: 50.00 or 5000c')),
    rpm: orNone(whole('N', 'requests per minute, at most what the tier allows', LIMIT)),
    tpm: orNone(whole('N', 'tokens per minute, at most what the tier allows', LIMIT)),
    origin: repeated('URL', 'a web origin that can use it; replaces the current list, and none allows all origins'),
    expires: text('WHEN', 'when it expires: 90d from now, or an ISO date; none removes it'),
  },
  async run(shell, { key, ...input }) {
    const change = changeOf(input, shell.clock.now())
    const fields = Object.keys(change)
    if (!fields.length) throw usageFailure('keys update needs at least one flag.', 'svc-admin keys update --help')
    const { api, isOperator } = await apiOf(shell)
    const before = await findKey(api, key)
    if (shell.planned(`set ${fields.join(', ')} of key "${before.name}"`)) return
    assertOperator(isOperator, change.tier !== undefined, TIER_IS_REQUESTED_FOR)
    shell.print.item(expectData(await api.keys({ ref: before.id }).put(change)), columns)
    if (change.tier) shell.note(`undo: svc-admin keys update ${before.id.slice(0, 8)} --tier ${before.tier}`)
  },
})

type Wishes = {
  name: string | undefined
  scopes: OperatorKeyPatch['scopes']
  tier: OperatorKeyPatch['tier']
  dailyCap: number | null | undefined
  monthlyCap: number | null | undefined
  rpm: number | null | undefined
  tpm: number | null | undefined
  origin: string[] | undefined
  expires: string | undefined
}

/** The request body; flags that were not given are left out. */
function changeOf(wishes: Wishes, now: number): OperatorKeyPatch {
  const { origin, expires } = wishes
  const change = {
    name: wishes.name,
    scopes: wishes.scopes,
    tier: wishes.tier,
    daily_cap_cents: wishes.dailyCap,
    monthly_cap_cents: wishes.monthlyCap,
    rpm_limit: wishes.rpm,
    tpm_limit: wishes.tpm,
    allowed_origins: origin?.join() === 'none' ? [] : origin,
    expires_at: expires === 'none' ? null : expires && moment(expires, now),
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

/** A duration that may also be `0`, without a unit. */
const grace: Flag<number | undefined> = {
  ...duration('24h', 'how long the old secret still works; 0 stops it at once'),
  read: (word) => (word === '0' ? 0 : readDuration(word)),
}

export const rotateKey = defineCommand({
  path: 'keys rotate',
  summary: 'Give a key a new secret and show it once',
  about:
    'Everything else about the key stays the same. The old secret works for the time of --grace, so that its users can switch. The default is 24h and the maximum is 7d. With --grace 0 the old secret stops at once.',
  examples: ['keys rotate ci --yes --secret-to new.key', 'keys rotate 3f9a01 --grace 0 --yes --json'],
  apis,
  impact: 'write',
  danger: 'moderate',
  exits: [3, 5],
  columns,
  args: keyArgument,
  flags: { grace, ...SECRET_FLAGS },
  async run(shell, { key, grace = DAY_MS, ...methods }) {
    if (grace > MAX_GRACE_MS) {
      throw usageFailure(`--grace is ${Math.ceil(grace / DAY_MS)} days; it can be at most 7.`, '--grace 7d')
    }
    const { api } = await apiOf(shell)
    const found = await findKey(api, key)
    const title = `key "${found.name}" (${found.prefix}…)`
    if (shell.planned(`rotate ${title}`)) return
    const old = grace === 0 ? 'stops at once' : `works for another ${grace / 3_600_000} h`
    shell.confirm(`Give ${title} a new secret? The old one ${old}.`)
    const outlet = prepareSecret(shell, 'key', methods)
    try {
      const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
      const input = { grace_period_seconds: Math.floor(grace / 1_000) }
      const made = expectData(await api.keys({ ref: found.id }).rotate.post(input, { headers }))
      outlet.deliver(made, columns)
      shell.note(`The old secret (${found.prefix}…) expires at ${made.previous_key_expires_at}.`)
    } catch (error) {
      outlet.abandon()
      throw error
    }
  },
})

const checkColumns = [...columns, column('known', 'KNOWN', { kind: 'flag' })]

export const checkKey = defineCommand({
  path: 'keys check',
  summary: "Show the owner of a key's secret and whether it works",
  about:
    'Reads the whole key from --from-file, stdin or a hidden prompt, and never prints it. Exits 9 when the key is unknown or does not work.',
  examples: ['keys check --from-file old.key', 'keys check --from-file - --json'],
  apis: ['operator'],
  impact: 'read',
  exits: [9],
  columns: checkColumns,
  flags: { fromFile: text('FILE', 'a file that contains the key; - reads stdin') },
  async run(shell, { fromFile }) {
    const secret = await readSecretInput(shell, { label: 'API key', fromFile, instead: 'add --from-file FILE' })
    const connection = await shell.connect()
    const { known, key } = expectData(await connection.ops().keys.check.post({ key: secret }))
    if (key) shell.print.item({ ...key, known }, checkColumns)
    else
      shell.note(
        'No key of this server has this secret. It may be mistyped, replaced by a rotation, or a key of another server.',
      )
    if (!works(key)) throw new CheckFailed()
  },
})

const works = (key: ApiKey | null): boolean => key !== null && key.status !== 'revoked'
