import { assertFits } from '../../kernel/validation'
import type { PatternCheck } from '../../text'
import { readContent } from './rules'
import { NewPreference } from './schema'

/** Only the server tries them: it has a process that may be held up. */
const leaveToServer: PatternCheck = async () => ({ is: 'fine' })

/**
 * Reads the body of a new preference as `POST /routing-preferences` would, without a server, but for trying patterns
 * that have to backtrack (contract 13). Throws 400 `validation_error` and `routing_preference_invalid`.
 */
export async function reviewPreference(body: unknown): Promise<void> {
  assertFits(NewPreference, body)
  await readContent(body, leaveToServer)
}
