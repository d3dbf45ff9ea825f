import {
  newQuickJSWASMModule,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSWASMModule,
  RELEASE_SYNC,
  Scope,
} from 'quickjs-emscripten'
import { answerTasks } from '../../kernel/worker-pool'

export type CodeInput = { code: string; timeoutMs: number; memoryBytes: number; maxChars: number }
/** `value` is JSON text, or null when there is none. `error` is what the code threw. */
export type CodeAnswer = { value: string | null; output: string; error: string | null }

/** Memory that the interpreter itself needs. The WebAssembly build requires at least this much. */
const OWN_BYTES = 16 * 1024 * 1024
const PAGE_BYTES = 64 * 1024

/**
 * A WebAssembly module whose memory cannot grow beyond the limit. QuickJS's own limit counts blocks instead of bytes in
 * this build, and let a loop of arrays take 2 GiB. `printErr` is silenced because a crash at the limit would write to
 * the server's stderr, which is read as a log.
 */
function openModule(memoryBytes: number): Promise<QuickJSWASMModule> {
  const [initial, maximum] = [OWN_BYTES / PAGE_BYTES, (OWN_BYTES + memoryBytes) / PAGE_BYTES]
  const wasmMemory = new WebAssembly.Memory({ initial, maximum })
  const emscriptenModule = { printErr: () => undefined } as object
  return newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory, emscriptenModule }))
}

let module: Promise<QuickJSWASMModule> | null = null

/** Each task gets a new runtime that contains only the language, `console` and the limits. */
async function inSandbox({ code, timeoutMs, memoryBytes, maxChars }: CodeInput): Promise<CodeAnswer> {
  module ??= openModule(memoryBytes)
  const runtime = (await module).newRuntime()
  const endsAt = performance.now() + timeoutMs
  runtime.setMemoryLimit(memoryBytes)
  runtime.setMaxStackSize(256 * 1024)
  runtime.setInterruptHandler(() => performance.now() > endsAt)
  const context = runtime.newContext()
  const scope = new Scope()
  try {
    const output = createOutput(context, maxChars)
    const toJson = createToJson(context, scope)
    const evaluated = context.evalCode(code, 'code.js')
    const first = scope.manage(evaluated.error ?? evaluated.value)
    const settled = evaluated.error ? { error: first } : settle(context, scope, first)
    if (settled.error) return { value: null, output: output.all(), error: describe(context, settled.error) }
    return { value: toJson(settled.value)?.slice(0, maxChars) ?? null, output: output.all(), error: null }
  } finally {
    takeDown(() => {
      scope.dispose()
      context.dispose()
      runtime.dispose()
    })
  }
}

type Settled = { value: QuickJSHandle; error?: undefined } | { error: QuickJSHandle }

/** Runs pending jobs and returns the settled value of the promise. Returns other values unchanged. */
function settle(context: QuickJSContext, scope: Scope, handle: QuickJSHandle): Settled {
  const jobs = context.runtime.executePendingJobs()
  if (jobs.error) return { error: scope.manage(jobs.error) }
  const state = context.getPromiseState(handle)
  if (state.type === 'fulfilled') return { value: state.notAPromise ? handle : scope.manage(state.value) }
  if (state.type === 'rejected') return { error: scope.manage(state.error) }
  return { error: scope.manage(context.newError('the promise never settled: nothing in the sandbox is asynchronous')) }
}

function createOutput(context: QuickJSContext, maxChars: number) {
  let lines = ''
  const write = context.newFunction('write', (...handles) => {
    const words = handles.map((handle) => {
      const value: unknown = context.dump(handle)
      return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
    })
    if (lines.length < maxChars) lines = `${lines}${words.join(' ')}\n`.slice(0, maxChars)
  })
  const ear = context.newObject()
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) context.setProp(ear, name, write)
  context.setProp(context.global, 'console', ear)
  ear.dispose()
  write.dispose()
  return { all: () => lines }
}

/** Replaces a value that JSON cannot represent, such as a circular object. */
const UNWRITABLE = '"[a value that JSON cannot say]"'

/** Captures `JSON.stringify` and `String` before the code runs, because the code may replace them. */
function createToJson(context: QuickJSContext, scope: Scope) {
  const made = scope.manage(
    context.unwrapResult(
      context.evalCode(
        '((stringify, text) => (v) => typeof v === "bigint" || typeof v === "function" || typeof v === "symbol" ? stringify(text(v)) : stringify(v, (k, x) => typeof x === "bigint" ? text(x) : x))(JSON.stringify, String)',
      ),
    ),
  )
  return (handle: QuickJSHandle): string | null => {
    const result = context.callFunction(made, context.undefined, handle)
    const written = scope.manage(result.error ?? result.value)
    if (result.error) return UNWRITABLE
    const json: unknown = context.dump(written)
    return typeof json === 'string' ? json : null
  }
}

const MAX_ERROR_CHARS = 2_000

/** Describes the thrown value, which may be of any type and length. */
function describe(context: QuickJSContext, handle: QuickJSHandle): string {
  const found: unknown = context.dump(handle)
  if (found === '' || found === null) return `${JSON.stringify(found)}, which code throws that has no memory left`
  if (typeof found !== 'object' || found === null) return String(found).slice(0, MAX_ERROR_CHARS)
  const { name, message } = found as { name?: unknown; message?: unknown }
  if (message === 'interrupted') return 'the time limit was reached'
  return `${String(name ?? 'Error')}: ${String(message ?? JSON.stringify(found))}`.slice(0, MAX_ERROR_CHARS)
}

/** A runtime that crashed at its limits cannot be disposed of, so the next task loads a new module. */
function takeDown(dispose: () => void): void {
  try {
    dispose()
  } catch {
    module = null
  }
}

answerTasks(inSandbox)
