import { assertFits } from '../kernel/validation'
import { validateContent } from './policy-validate'
import { NewPolicy } from './schema'

/**
 * Reads the body of a new policy as `POST /guardrail-policies` would, without a server (contract 12). Throws 400
 * `validation_error` and `guardrail_policy_invalid`.
 */
export async function reviewPolicy(body: unknown): Promise<void> {
  assertFits(NewPolicy, body)
  await validateContent(body)
}
