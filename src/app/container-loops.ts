import { expiredSessions, startAccessLoop, startLastUsedLoop, startSessionLoop } from '../accounts'
import { startCheckpointLoop } from '../audit'
import { expiredCredit, startHoldRecovery } from '../billing'
import { startWatchLoop } from '../browser'
import { startLeaseLoop } from '../cluster'
import { startEngineSettingsLoop, startProbeLoop } from '../engines'
import { expiredFiles, sweptFiles } from '../files'
import { expiredKeys, startIdempotencyLoop } from '../idempotency'
import { startRefusalLoop, startRollupLoop } from '../usage'
import type { Accounts } from './container-accounts'
import type { Decisions } from './container-decisions'
import type { Deps } from './container-deps'
import type { Foundation } from './container-foundation'
import type { Work } from './container-work'

/**
 * Starts the background work, once the server listens (design 6): jobs, which all nodes share, and the loops that write
 * what this process remembers or renew what it holds.
 */
export function startLoops({ store, clock, node }: Deps, rooms: Foundation & Accounts & Decisions & Work) {
  const {
    audit,
    usage,
    nodes,
    live,
    jobs,
    files,
    filePlace,
    billing,
    keyUses,
    sessionUses,
    idempotency,
    checkpoints,
    access,
    attempts,
    signInLinks,
    onError,
    published,
    webhooks,
    browser,
    engineRegistry,
    engines,
  } = rooms
  const { release, unended } = billing
  jobs.register(expiredKeys(idempotency))
  jobs.register(expiredSessions({ store, clock, attempts, signInLinks }))
  jobs.register(expiredCredit(billing.expiringGrants))
  jobs.register(published.tidying())
  jobs.register(webhooks.tidying())
  jobs.register(expiredFiles(files))
  jobs.register(sweptFiles({ store, clock, ...filePlace }))
  return [
    ...(store.dialect === 'postgres' ? [startEngineSettingsLoop({ registry: engineRegistry, clock, onError })] : []),
    startProbeLoop({ engines, clock, onError }),
    startLeaseLoop({ nodes, clock, onError }),
    live.start(),
    rooms.widgets.hub.start(),
    startRollupLoop({ store, clock, onError }),
    startRefusalLoop({ refusals: usage.refusals, store, clock, onError }),
    startHoldRecovery({ store, clock, audit, node, release, unended, onError }),
    startLastUsedLoop({ store, sightings: keyUses, clock, onError }),
    startSessionLoop({ store, sightings: sessionUses, clock, onError }),
    startAccessLoop({ access, clock, onError }),
    startWatchLoop(browser.watch, { clock, onError }),
    startIdempotencyLoop({ idempotency, clock, onError }),
    startCheckpointLoop({ checkpoints, clock, onError }),
    jobs.start(),
  ]
}
