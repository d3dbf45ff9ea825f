import { assertOrigin } from '../accounts'
import { openAssets } from './assets'
import { buildAccounts } from './container-accounts'
import { buildDecisions } from './container-decisions'
import type { Deps } from './container-deps'
import { buildFoundation } from './container-foundation'
import { startLoops } from './container-loops'
import { buildWork } from './container-work'

export type Container = ReturnType<typeof buildContainer>

/** Builds every room once, in the order of the architecture: a room receives only rooms that come before it. */
export function buildContainer(deps: Deps) {
  const foundation = buildFoundation(deps)
  const accounts = { ...foundation, ...buildAccounts(deps, foundation) }
  const decisions = { ...accounts, ...buildDecisions(deps, accounts) }
  const rooms = { ...decisions, ...buildWork(deps, decisions) }
  const { node, store, clock, log } = deps
  return {
    ...rooms,
    node,
    store,
    clock,
    log,
    assertOrigin,
    assets: openAssets(),
    startLoops: () => startLoops(deps, rooms),
  }
}
