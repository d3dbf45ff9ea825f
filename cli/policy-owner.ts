import {
  type GuardrailPlane,
  guardrailsOver,
  ownPolicies,
  ownPreferences,
  type RoutingPlane,
  routingOver,
} from './rule-sets-plane'
import type { Shell } from './shell'

/**
 * The policies of one owner, for commands that process all of them together: the owner is `--org` on the server's
 * machine, otherwise that of the key in use.
 */
export async function ownedPlanes(shell: Shell): Promise<{ guardrails: GuardrailPlane; routing: RoutingPlane }> {
  return shell.globals.org === undefined
    ? { guardrails: await ownPolicies(shell), routing: await ownPreferences(shell) }
    : { guardrails: await guardrailsOver(shell), routing: await routingOver(shell) }
}
