import { LOADED } from '../../src/kernel/worker-pool'

declare const self: Worker

const MB = 1024 ** 2
let orders = 0
const stored: Uint8Array[] = []

/** Does what the order says; `count` answers how many orders this process has had, `pid` its number. */
self.onmessage = ({ data }: MessageEvent<string>) => {
  orders++
  if (data === 'hang') for (;;) orders++
  if (data === 'match') /^(a+)+$/.test(`${'a'.repeat(60)}!`)
  if (data === 'grow') for (;;) grow()
  if (data === 'swell') while (process.memoryUsage.rss() < 160 * MB) grow()
  if (data === 'break') throw new Error('broken')
  if (data === 'steps') for (const percent of [0, 50, 100]) self.postMessage({ percent })
  if (data === 'refuse') self.postMessage({ ok: false, problem: 'refused' })
  else self.postMessage({ ok: true, answer: answerTo(data) })
}

function answerTo(order: string): unknown {
  if (order === 'count') return orders
  if (order === 'bytes') return new Uint8Array(40 * MB)
  return order === 'pid' || order === 'swell' ? process.pid : order
}

/** Allocates a megabyte in a millisecond. */
function grow(): void {
  stored.push(new Uint8Array(MB).fill(1))
  const until = performance.now() + 1
  while (performance.now() < until) orders++
}

self.postMessage(LOADED)
