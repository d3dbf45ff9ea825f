import { ownerOf } from '../../kernel/caller'
import { storable } from '../../kernel/text'
import { createWorkerPool, WorkerFailure } from '../../kernel/worker-pool'
import { systemTool, type Tool, ToolFailure } from '../tool'
import type { CodeAnswer, CodeInput } from './code-sandbox.worker.ts'

const CODE_MS = 5_000
/** Added to the code's time limit. After that, the process is killed if the interpreter inside has not stopped. */
const GRACE_MS = 3_000
const MEMORY_BYTES = 64 * 1024 * 1024
const MAX_CHARS = 64 * 1024

/** Runs JavaScript in QuickJS (WebAssembly) in a process: no network, files or timers, limits of 5 s and 64 MiB. */
export function createCodeExecute({ codeMs = CODE_MS } = {}): Tool {
  const threadMs = codeMs + GRACE_MS
  const sandbox = createWorkerPool<CodeInput, CodeAnswer>({
    script: new URL('./code-sandbox.worker.ts', import.meta.url),
    max: 2,
    idleMs: 30_000,
  })
  return systemTool({
    name: 'code_execute',
    description:
      'Runs JavaScript in a sandbox without network, files or timers and gives the value of the last expression and what it logged. For calculations and for work on data that the code itself contains.',
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'string', minLength: 1, maxLength: 100_000, description: 'A JavaScript program' } },
      required: ['code'],
    },
    outputSchema: {
      type: 'object',
      properties: { value: { description: 'Value of the last expression' }, output: { type: 'string' } },
      required: ['value', 'output'],
    },
    category: 'code',
    timeoutMs: threadMs + GRACE_MS,
    run: async ({ code }, { signal, call }) => {
      const input = { code: code as string, timeoutMs: codeMs, memoryBytes: MEMORY_BYTES, maxChars: MAX_CHARS }
      const { value, output, error } = await sandbox
        .run(input, { timeoutMs: threadMs, signal, who: ownerOf(call.caller) })
        .catch(explain)
      const written = storable(output)
      if (error !== null) {
        const before = written ? `\nIt had written:\n${written.slice(0, 2_000)}` : ''
        throw new ToolFailure('The code failed.', `${storable(error)}${before}`)
      }
      return { value: read(value), output: written }
    },
  })
}

function explain(error: unknown): never {
  if (!(error instanceof WorkerFailure)) throw error
  throw new ToolFailure(
    error.kind === 'timeout'
      ? 'The code exceeded its time limit and was stopped.'
      : 'The code stopped its sandbox; it may have used more than 64 MiB of memory.',
  )
}

/** Parses the value. A value cut at the character limit is no longer valid JSON and is returned as text. */
function read(json: string | null): unknown {
  if (json === null) return null
  try {
    return JSON.parse(json, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value))
  } catch {
    return storable(json)
  }
}
