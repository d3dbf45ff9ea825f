import { defineEvent } from '../events'
import type { KeyId } from '../kernel/ids'
import type { Firing, GuardrailPolicyId } from './schema'

/** Payload of `guardrail.triggered` (docs/api.md 14.2). Never contains the text. */
export type TriggeredFacts = Pick<Firing, 'guardrail_id' | 'phase' | 'verdict'> & {
  policy_id: GuardrailPolicyId
  api_key_id: KeyId | null
  request_id: string
}

export const guardrailTriggered = defineEvent<TriggeredFacts>('guardrail.triggered')
