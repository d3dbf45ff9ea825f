import type { EventBus } from '../events'
import { type Guard, guardrailTriggered } from '../guardrails'
import type { Firing } from '../guardrails/schema'
import { type Call, keyIdOf, ownerOf } from '../kernel/caller'
import type { Tx } from '../kernel/store'

type Guarded = { call: Pick<Call, 'caller' | 'requestId' | 'depth'>; guard: Pick<Guard, 'policyId'> | null }

/** Emits every rule that fired; of work that failed too, since the rule fired all the same (contract 14.2). */
export async function emitFirings(
  events: EventBus,
  tx: Tx,
  { call, guard }: Guarded,
  firings: readonly Firing[],
): Promise<void> {
  if (!guard) return
  for (const { guardrail_id, phase, verdict } of firings) {
    await events.emit(
      tx,
      guardrailTriggered,
      ownerOf(call.caller),
      {
        policy_id: guard.policyId,
        guardrail_id,
        phase,
        verdict,
        api_key_id: keyIdOf(call.caller),
        request_id: call.requestId,
      },
      call,
    )
  }
}
