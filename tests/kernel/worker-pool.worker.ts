import { LOADED } from '../../src/kernel/worker-pool'

declare const self: Worker

let orders = 0

/** Does what the order says; `count` answers how many orders this thread has had, `pid` its process. */
self.onmessage = ({ data }: MessageEvent<string>) => {
  orders++
  if (data === 'hang') for (;;) orders++
  if (data === 'grow') grow()
  if (data === 'break') throw new Error('broken')
  if (data === 'pid') self.postMessage({ ok: true, answer: process.pid })
  else if (data === 'refuse') self.postMessage({ ok: false, problem: 'refused' })
  else self.postMessage({ ok: true, answer: data === 'count' ? orders : data })
}

/** Allocates a megabyte per millisecond until the thread is ended. */
function grow(): void {
  const kept: Uint8Array[] = []
  for (;;) {
    kept.push(new Uint8Array(1024 * 1024).fill(1))
    const until = performance.now() + 1
    while (performance.now() < until) orders++
  }
}

self.postMessage(LOADED)
