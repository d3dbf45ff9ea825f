import type { AgentResult, Emit, Step, Task, ToolAccess } from '../../../src/completions/agent-schema'
import { contextOf } from '../../tools/world'

/** A prompt for an engine, as the pipeline hands it to the agent. */
export const taskOf = (input: Partial<Task> = {}): Task => ({
  call: contextOf().call,
  engineId: 'svc-1-flash',
  mode: 'fast',
  system: 'Be brief.',
  history: [],
  prompt: 'go',
  after: [],
  images: [],
  temperature: undefined,
  maxOutputTokens: 1_000,
  json: false,
  signal: new AbortController().signal,
  offered: null,
  acting: null,
  ...input,
})

/** With these tools, and whatever it costs. */
export const actingOf = (toolset: ToolAccess['toolset'], input: Partial<ToolAccess> = {}): ToolAccess => ({
  toolset,
  maxIterations: 8,
  call: contextOf().call,
  conversationId: null,
  spent: { turns: [], toolUses: [], textLength: 0 },
  afford: async ({ completionTokens }) => completionTokens,
  unpaid: () => new Error('unpaid'),
  ...input,
})

/** Every step as it comes, and the thought they end with. */
export async function watch(run: (emit: Emit) => Promise<AgentResult>) {
  const seen: Step[] = []
  return { seen, agentResult: await run((step) => void seen.push(step)) }
}
