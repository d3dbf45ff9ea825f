import { payerOf, refOf } from '../billing/schema'
import { storeAnswer } from '../idempotency'
import { type Call, keyIdOf, ownerOf, type TenantCaller } from '../kernel/caller'
import { invalidInput, quoted } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import { isConfigured } from './chromium'
import type { Deps } from './deps'
import { costOf, HELD_MINUTES } from './end'
import { browserErrors } from './errors'
import { goTo, readAddress } from './navigate'
import { presentHandle } from './present'
import { sessionRepository as rows } from './repository'
import { BrowserSessionId, type NewSession, type SessionHandle } from './schema'
import type { SessionRow } from './table'

/** The holder of a caller's sessions within its owner: its key, or else its user. */
export const holderOf = (caller: TenantCaller): string => keyIdOf(caller) ?? `user:${caller.userId}`

/**
 * Starts a session. With `url`, also starts loading the page (docs/api.md 16.1). Throws 400 `url_blocked`, 402, 429
 * `browser_session_limit`, 501 `browser_unconfigured`, 503.
 */
export async function startSession(deps: Deps, call: Call, input: NewSession): Promise<SessionHandle> {
  const { store, outbound, host, settings } = deps
  if (!isConfigured(settings)) throw browserErrors.browserUnconfigured()
  const regions = settings.browserRegions.split(',')
  const region = input.region ?? regions[0]!
  if (!regions.includes(region)) {
    throw invalidInput('region', `"region" is "${quoted(region)}"; it must be one of ${regions.join(', ')}.`)
  }
  if (input.proxies && !settings.browserUpstreamProxy) throw browserErrors.proxiesUnconfigured()
  const url = input.url == null ? null : await readAddress(outbound, input.url, 'url')
  if (host.open.size + host.starting >= settings.browserSessions)
    throw browserErrors.serverFull.with({ retryAfterS: 30 }, settings.browserSessions)
  host.starting += 1
  const row = rowOf(deps, call, input, region)
  try {
    // Reserves credit for the first minutes and one of the user's slots before starting a browser.
    await store.write((tx) => insert(deps, tx, call, row))
    return await open(deps, call, row, url)
  } finally {
    host.starting -= 1
  }
}

async function insert({ billing, settings }: Deps, tx: Tx, call: Call, row: SessionRow): Promise<void> {
  const payer = payerOf(call.caller)
  const amount = costOf(HELD_MINUTES * 60_000, 0)
  // From here on the wallet is locked, so that two concurrent requests count each other.
  row.hold = await billing.reserve(tx, { ...payer, ref: refOf(row.id, row.started_at), amount, forSession: true })
  const max = settings.browserSessionsPerUser
  if ((await rows.countOfUser(tx, row.user_id)) >= max) throw browserErrors.sessionLimit.with({ retryAfterS: 30 }, max)
  await rows.insert(tx, row)
}

async function open(deps: Deps, call: Call, row: SessionRow, url: string | null): Promise<SessionHandle> {
  const { store, clock, audit, billing, host } = deps
  const { id, owner, user_id: user, recorded, proxies: through } = row
  try {
    const { live } = await host.openSession({ id, owner, user, recorded, through, now: clock.now() })
    if (url) await goTo(live, url, 'started')
    const facts = await live.facts(live.page())
    const seen = { url: url ?? facts.url, title: facts.title, favicon_url: facts.favicon_url }
    return await store.write(async (tx) => {
      await rows.change(tx, id, seen)
      const entity = { entityType: 'browser_session' as const, entityId: id }
      const input = { metadata: { region: row.region, keep_alive: row.keep_alive, proxies: through } }
      await audit.record(tx, call, { action: 'browser.session_created', ...entity, input })
      return storeAnswer(tx, call, presentHandle(deps, { ...row, ...seen }), 201)
    })
  } catch (error) {
    await host.end(id, 'browser')
    // The caller got nothing, so nothing is charged.
    await store.write(async (tx) => {
      if (row.hold) await billing.release(tx, row.hold)
      await rows.end(tx, id, { reason: 'browser', ended_at: row.started_at, hold: null })
    })
    throw error
  }
}

function rowOf(
  { clock, node, settings }: Deps,
  { caller, requestId }: Call,
  input: NewSession,
  region: string,
): SessionRow {
  const now = clock.now()
  const { caps } = payerOf(caller)
  return {
    id: BrowserSessionId.create(),
    owner: ownerOf(caller),
    holder: holderOf(caller),
    user_id: caller.userId,
    key_id: keyIdOf(caller),
    request_id: requestId,
    node,
    region,
    keep_alive: input.keep_alive ?? false,
    proxies: input.proxies ?? false,
    recorded: input.record ?? true,
    state: 'active',
    reason: null,
    started_at: now,
    expires_at: now + settings.browserSessionMaxSeconds * 1_000,
    last_active_at: now,
    seen_at: now,
    viewers: 0,
    ended_at: null,
    view_version: 1,
    url: null,
    title: null,
    favicon_url: null,
    proxy_bytes: 0,
    hold: null,
    caps,
    cost_micro: 0,
    refused_at: null,
  }
}
