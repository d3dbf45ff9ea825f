import { describe, expect, test } from 'bun:test'
import { createCodeExecute } from '../../src/tools/system/code-execute'
import { spentBy } from '../support/spent'
import { contextOf, openTools, requestOf, wanted } from './world'

const tools = openTools({ system: [createCodeExecute({ codeMs: 2_000 })] })
const run = (code: string, signal = new AbortController().signal) =>
  tools.run(tools.assemble(wanted()), requestOf('code_execute', { code }), contextOf({ signal }))

describe('code_execute', () => {
  test.each([
    ['the last expression', '[3, 1, 2].sort().map((n) => n * 2)', { value: [2, 4, 6], output: '' }],
    ['what was written', 'console.log("a", { b: 1 }); console.error("c"); 1', { value: 1, output: 'a {"b":1}\nc\n' }],
    ['a promise', 'Promise.resolve(6).then((n) => n * 7)', { value: 42, output: '' }],
    ['nothing', 'undefined', { value: null, output: '' }],
    ['a whole number of any size', '2n ** 70n', { value: '1180591620717411303424', output: '' }],
    ['a value that holds itself', 'const a = {}; a.a = a; a', { value: '[a value that JSON cannot say]', output: '' }],
    ['text no database can hold', '"a\\u0000b\\ud800"', { value: 'ab\ufffd', output: '' }],
  ])('gives %s', async (_, code, result) => {
    expect(await run(code)).toMatchObject({ status: 'success', result })
  })

  test.each([
    ['an error', 'null.x', /^Error: The code failed\.\n\[data .*\]\nTypeError: /],
    ['a value thrown', 'throw "no"', /\]\nno\n/],
    ['a syntax error', 'let let', /SyntaxError/],
    ['a promise refused', 'Promise.reject(new Error("later"))', /Error: later/],
    ['a promise nobody settles', 'new Promise(() => {})', /never settled/],
    ['recursion without end', 'const f = () => f(); f()', /stack overflow|InternalError|RangeError/],
    [
      'promises without end',
      'const f = () => Promise.resolve().then(f); f()',
      /time limit was reached|never settled|no memory left/,
    ],
    [
      'a pattern that explodes',
      '/^(a+)+$/.test("a".repeat(60) + "!")',
      /time limit was reached|exceeded its time limit/,
    ],
    [
      'a pattern that no interpreter stops',
      `/(?=(a+))${'(?=\\1)'.repeat(70)}b/.test("a".repeat(1e5))`,
      /time limit was reached|exceeded its time limit/,
    ],
    ['what was written before', 'console.log("here"); null.x', /It had written:\nhere/],
  ])('tells the engine of %s', async (_, code, problem) => {
    const outcome = await run(code)
    expect(outcome.status).toBe('error')
    expect(outcome.text).toMatch(problem)
  })

  test.each(
    `
    fetch require process Bun Deno XMLHttpRequest WebSocket setTimeout postMessage self Worker importScripts std os
    WebAssembly
  `
      .trim()
      .split(/\s+/),
  )('has no %s inside', async (name) => {
    expect((await run(`typeof ${name}`)).result).toEqual({ value: 'undefined', output: '' })
  })

  test.each([
    ['the constructor of constructors', '(function(){}).constructor("return typeof process")()', 'undefined'],
    ['the global object', 'Object.keys(globalThis).join()', 'console'],
    ['a prototype that is changed', 'Object.prototype.polluted = 1; ({}).polluted', 1],
  ])('keeps %s inside', async (_, code, value) => {
    expect((await run(code)).result).toMatchObject({ value })
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  test('starts anew each time', async () => {
    await run('globalThis.kept = 1; JSON.stringify = () => "lie"; 1')
    expect((await run('typeof kept + JSON.stringify([1])')).result).toMatchObject({ value: 'undefined[1]' })
  })

  test('refuses an import', async () => {
    expect((await run('import("fs")')).status).toBe('error')
  })

  test.each([
    ['large arrays', 'const a = []; for (;;) a.push(new Array(1e6).fill(7))'],
    ['arrays', 'const a = []; for (;;) a.push(new Array(10000).fill(1))'],
    ['buffers', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))'],
    ['texts', 'const a = []; for (let i = 0; ; i++) a.push("x".repeat(1e5) + i)'],
  ])('takes no more memory than it may for %s, and works again afterwards', async (_, bomb) => {
    await run('1')
    const before = process.memoryUsage.rss()
    const outcome = await run(bomb)
    expect(outcome.status).toBe('error')
    // On a busy machine its time is over first.
    expect(outcome.text).toMatch(/memory|exceeded its time limit/)
    expect(process.memoryUsage.rss() - before).toBeLessThan(256 * 1024 * 1024)
    expect((await run('1 + 1')).result).toMatchObject({ value: 2 })
  })

  test('tells of an error of any length in a few words', async () => {
    expect((await run('throw "x".repeat(1e6)')).text.length).toBeLessThan(3_000)
  })

  test('ends a loop without end, and nobody waits meanwhile', async () => {
    await run('1')
    const before = spentBy('thread-self').ranMs
    expect((await run('for (;;) {}')).text).toContain('the time limit was reached')
    expect(spentBy('thread-self').ranMs - before).toBeLessThan(200)
  }, 30_000)

  test('ends with the run, process and all', async () => {
    const ending = new AbortController()
    const work = run('for (;;) {}', ending.signal)
    setTimeout(() => ending.abort(new Error('gone')), 20)
    await expect(work).rejects.toThrow('gone')
    expect((await run('3')).result).toMatchObject({ value: 3 })
  }, 30_000)

  test('bounds what is written', async () => {
    const { status, result } = await run('for (let i = 0; i < 8e3; i++) console.log("0123456789"); 1')
    expect(status).toBe('success')
    expect(JSON.stringify(result).length).toBeLessThan(75_000)
  })
})
