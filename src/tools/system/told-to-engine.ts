import { WebFailure } from '../../research'
import { ToolFailure } from '../tool'

/** What cannot be searched or read is told to the engine, which reads on elsewhere. */
export async function notifiedToEngine<Found>(reading: () => Promise<Found>): Promise<Found> {
  try {
    return await reading()
  } catch (error) {
    throw error instanceof WebFailure ? new ToolFailure(error.message) : error
  }
}
