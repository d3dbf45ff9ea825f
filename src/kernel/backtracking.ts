import { newQuickJSWASMModule, newVariant, RELEASE_SYNC } from 'quickjs-emscripten'

export type Expression = { source: string; flags: string }

/** This engine does not take it for an expression; the message is half a sentence. */
export class UnknownSyntax extends Error {
  override name = 'UnknownSyntax'
}

export type Backtracker = {
  /**
   * Whether it matches; null when `isOver` said so before there was an answer, or memory ran out. It is asked every
   * ten thousand steps, which is about a millisecond.
   * @throws UnknownSyntax
   */
  test(expression: Expression, text: string, isOver: () => boolean): boolean | null
}

const PAGE_BYTES = 64 * 1024
/** The machine asks for the first half of it. */
const MOST_BYTES = 32 * 1024 * 1024
const STACK_BYTES = 256 * 1024
/** One expression is mostly tried on many texts. */
const TESTS = `
  let [source, flags, expression] = ['', '', new RegExp('')]
  ;(newSource, newFlags, text) => {
    if (newSource !== source || newFlags !== flags) {
      expression = new RegExp(newSource, newFlags)
      ;[source, flags] = [newSource, newFlags]
    }
    return expression.test(text)
  }`
/** What the machine says of itself when it was stopped, or ran out of memory or stack. */
const STOPPED = 'InternalError'

/**
 * For expressions that have to backtrack, an engine that can be stopped in the midst of one. The runtime's own can
 * not: a thread that is ended while it matches goes on until it has its answer, which may be never. For threads
 * beside the event loop.
 */
export async function openBacktracker(): Promise<Backtracker> {
  const runtime = (await openMachine()).newRuntime()
  runtime.setMemoryLimit(MOST_BYTES)
  runtime.setMaxStackSize(STACK_BYTES)
  const context = runtime.newContext()
  const tests = context.unwrapResult(context.evalCode(TESTS))

  return {
    test({ source, flags }, text, isOver) {
      runtime.setInterruptHandler(isOver)
      const given = [source, flags, text].map((one) => context.newString(one))
      const answered = context.callFunction(tests, context.undefined, ...given)
      for (const handle of given) handle.dispose()
      if (!answered.error) return answered.value.consume(context.dump) as boolean
      const { name, message } = answered.error.consume(context.dump) as Error
      if (name === STOPPED) return null
      throw name === 'SyntaxError' ? new UnknownSyntax(message) : new Error(message)
    },
  }
}

function openMachine() {
  const [initial, maximum] = [MOST_BYTES / 2 / PAGE_BYTES, MOST_BYTES / PAGE_BYTES]
  const wasmMemory = new WebAssembly.Memory({ initial, maximum })
  const emscriptenModule = { printErr: () => undefined } as object
  return newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory, emscriptenModule }))
}
