import type { JsonSchema } from '../engines'
import type { Call } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { type Tool, ToolFailure } from '../tools'
import type { ActionResult, BrowserTool } from './schema'

const object = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required: [...required],
  properties,
})
const text = (description: string, maxLength = 2_000): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
})

const DOWNLOADS: JsonSchema = {
  type: 'array',
  description: 'Downloaded files, stored as artifacts; absent if there are none',
  items: object(
    {
      filename: { type: 'string' },
      url: { type: 'string' },
      size_bytes: { type: 'integer' },
      artifact: { type: ['object', 'null'] },
      problem: { type: ['string', 'null'], description: 'Why it was not stored' },
    },
    ['filename', 'url', 'size_bytes', 'artifact', 'problem'],
  ),
}

type Declared = { description: string; inputSchema: JsonSchema; outputSchema: JsonSchema; timeoutMs: number }

/** The five tools of docs/api.md 16.4. */
export const DECLARED: Record<BrowserTool, Declared> = {
  browser_navigate: {
    description: 'Opens an address in the browser session.',
    inputSchema: object(
      { url: text('Public http or https address'), wait_until: { enum: ['load', 'domcontentloaded'] } },
      ['url'],
    ),
    outputSchema: object(
      {
        url: { type: 'string' },
        title: { type: 'string' },
        status: { type: ['integer', 'null'], description: 'HTTP status of the page; null if there was no answer' },
        downloads: DOWNLOADS,
      },
      ['url', 'title', 'status'],
    ),
    timeoutMs: 30_000,
  },
  browser_act: {
    description:
      'Does one thing on the page of the browser session, such as: click "Sign in"; type "5" in "Quantity"; select ' +
      '"Large" from "Size"; scroll down; go back; ask a person to sign in.',
    inputSchema: object(
      {
        instruction: text('What to do, in plain words; %name% stands for a variable'),
        selector: text('The element to use: a selector from browser_observe, or any CSS selector', 300),
        variables: { type: 'object', additionalProperties: true },
      },
      ['instruction'],
    ),
    outputSchema: object(
      {
        success: { type: 'boolean' },
        action: { type: 'string' },
        url: { type: 'string' },
        dialogs: { type: 'array', items: { type: 'object' } },
        downloads: DOWNLOADS,
      },
      ['success', 'action', 'url'],
    ),
    timeoutMs: 60_000,
  },
  browser_extract: {
    description: 'Reads data from the page of the browser session, such as: every price; the title and the author.',
    inputSchema: object({ instruction: text('What to read'), schema: { type: 'object' } }, ['instruction']),
    outputSchema: object({ data: {} }, ['data']),
    timeoutMs: 60_000,
  },
  browser_observe: {
    description: 'Lists what can be clicked or filled in on the page of the browser session, with a selector for each.',
    inputSchema: object({ instruction: text('What to look for') }, []),
    outputSchema: object({ elements: { type: 'array', items: { type: 'object' } } }, ['elements']),
    timeoutMs: 30_000,
  },
  browser_screenshot: {
    description: 'Takes a screenshot of the page of the browser session and stores it as a file.',
    inputSchema: object({ full_page: { type: 'boolean' } }, []),
    outputSchema: object({ artifact: { type: 'object' } }, ['artifact']),
    timeoutMs: 30_000,
  },
}

export type RunTool = (call: Call, tool: BrowserTool, args: Record<string, unknown>) => Promise<ActionResult>

/** The tools of a session for a run. Without a session they return what is missing. */
export const toolsOf = (run: RunTool | null, unavailable: () => string | null): Tool[] =>
  (Object.entries(DECLARED) as [BrowserTool, Declared][]).map(([name, declared]) => ({
    name,
    ...declared,
    category: 'browser' as const,
    permissionLevel: 'user' as const,
    scope: 'connectors' as const,
    requiresApproval: false,
    skillId: null,
    ...(name === 'browser_screenshot' ? { keeps: true as const } : {}),
    unavailable,
    async run(args, { call, signal }) {
      if (!run) throw new ToolFailure('This run has no browser session: send "browser_session_id" with the request.')
      try {
        const { status, result } = await run({ ...call, once: undefined, signal }, name, args)
        if (status === 'error') throw new ToolFailure((result as { message: string }).message)
        return result
      } catch (error) {
        if (error instanceof AppError && error.kind !== 'broken') throw new ToolFailure(error.message)
        throw error
      }
    },
  }))
