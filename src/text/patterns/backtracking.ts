import { newQuickJSWASMModule, newVariant, RELEASE_SYNC } from 'quickjs-emscripten'

export type Expression = { source: string; flags: string }

/** Thrown for an expression that this engine cannot parse. The message is half a sentence. */
export class UnknownSyntax extends Error {
  override name = 'UnknownSyntax'
}

export type Backtracker = {
  /**
   * Whether the expression matches. Null when `isOver` ended the match or memory ran out. `isOver` is called every ten
   * thousand steps, about once a millisecond.
   * @throws UnknownSyntax
   */
  test(expression: Expression, text: string, isOver: () => boolean): boolean | null
}

const PAGE_BYTES = 64 * 1024
/** Memory limit of the engine. Half of it is allocated at the start. */
const MAX_BYTES = 32 * 1024 * 1024
const STACK_BYTES = 256 * 1024
/** Runs inside the engine. Caches the last compiled expression, which is usually tried on many texts. */
const TESTS = `
  let [source, flags, expression] = ['', '', new RegExp('')]
  ;(newSource, newFlags, text) => {
    if (newSource !== source || newFlags !== flags) {
      expression = new RegExp(newSource, newFlags)
      ;[source, flags] = [newSource, newFlags]
    }
    return expression.test(text)
  }`
/** Name of the engine's error when it was interrupted, or ran out of memory or stack. */
const STOPPED = 'InternalError'

/**
 * Opens an interruptible engine for backtracking expressions. The runtime's own engine cannot be interrupted: even a
 * terminated thread continues matching, possibly forever. `test` blocks, and a comparison with a long group delays
 * `isOver`, so use this in a process, which can be killed.
 */
export async function openBacktracker(): Promise<Backtracker> {
  const [initial, maximum] = [MAX_BYTES / 2 / PAGE_BYTES, MAX_BYTES / PAGE_BYTES]
  const wasmMemory = new WebAssembly.Memory({ initial, maximum })
  const emscriptenModule = { printErr: () => undefined } as object
  const runtime = (await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory, emscriptenModule }))).newRuntime()
  runtime.setMemoryLimit(MAX_BYTES)
  runtime.setMaxStackSize(STACK_BYTES)
  const context = runtime.newContext()
  const tests = context.unwrapResult(context.evalCode(TESTS))

  return {
    test({ source, flags }, text, isOver) {
      runtime.setInterruptHandler(isOver)
      const args = [source, flags, text].map((one) => context.newString(one))
      const answered = context.callFunction(tests, context.undefined, ...args)
      for (const handle of args) handle.dispose()
      if (!answered.error) return answered.value.consume(context.dump) as boolean
      const { name, message } = answered.error.consume(context.dump) as Error
      if (name === STOPPED) return null
      throw name === 'SyntaxError' ? new UnknownSyntax(message) : new Error(message)
    },
  }
}
