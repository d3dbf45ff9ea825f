import type { JsonSchema } from '../engines'
import type { OpenSession } from './host'
import type { Step } from './instruction'
import type { PageContent } from './page-facts'

/** What an engine makes of an instruction that the built-in reader does not understand; null without an engine. */
export type Thinker = {
  steps(
    session: OpenSession,
    instruction: string,
    signal: AbortSignal,
  ): Promise<{ steps: Step[]; costMicro: number } | null>
  extract(
    content: PageContent,
    instruction: string,
    schema: JsonSchema | undefined,
    signal: AbortSignal,
  ): Promise<{ data: unknown; costMicro: number } | null>
}

/** Without an engine, what the built-in reader does not understand is not done. */
export const noThinker: Thinker = { steps: async () => null, extract: async () => null }
