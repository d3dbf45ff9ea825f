import { createOutbound, type Outbound } from '../../src/kernel/outbound'
import { createWeb } from '../../src/research'
import { createTools, type Tool, type ToolContext, type ToolSelection } from '../../src/tools'
import { callOf, keyCaller } from '../support/callers'

type Input = Partial<Parameters<typeof createTools>[0]>

/** The module with nothing of its own in it; endpoints may be on this machine. */
export const openTools = (input: Input = {}) =>
  createTools({
    outbound: createOutbound({ allow: ['127.0.0.1/32'] }),
    masterKey: new Uint8Array(32).fill(7),
    system: [],
    enabled: [],
    roleOf: async () => null,
    onFault: (name, error) => {
      throw new Error(`${name} failed by our fault`, { cause: error })
    },
    ...input,
  })

/** The web through an outbound door, without a search server. */
export const webOf = (outbound: Outbound) =>
  createWeb({ outbound, settings: { searchDriver: 'none', searchBaseUrl: '', searchApiKey: '' } })

export const wanted = (input: Partial<ToolSelection> = {}): ToolSelection => ({
  inline: [],
  skills: [],
  system: true,
  approved: [],
  call: callOf(keyCaller()),
  ...input,
})

export const contextOf = (input: Partial<ToolContext> = {}): ToolContext => ({
  call: callOf(keyCaller()),
  signal: new AbortController().signal,
  now: 1_767_225_600_000,
  conversationId: null,
  ...input,
})

/** A tool that answers with its arguments, unless told otherwise. */
export const toolOf = (input: Partial<Tool> = {}): Tool => ({
  name: 'echo',
  description: 'Says it again',
  inputSchema: { type: 'object' },
  category: 'search',
  permissionLevel: 'user',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 1_000,
  run: async (args) => args,
  ...input,
})

export const requestOf = (name: string, args: unknown = {}) => ({
  id: 'call_1',
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
})
