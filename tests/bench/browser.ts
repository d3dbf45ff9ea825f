/**
 * Browser sessions, in figures: how soon one is ready, how late a frame reaches its viewer, and how much memory each
 * session takes beyond the first. `bun run bench browser`, on Linux with a Chromium.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { percentile } from '../support/percentile'
import { processOf } from './processor'
import { print, serveBench } from './setup'

const SESSIONS = 20
const FRAMES = 60

/** A page that paints the time of each of its pictures. */
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () =>
    new Response(
      '<title>0</title><h1 style="font:80px sans-serif"></h1><script>setInterval(() => { document.title = Date.now(); document.querySelector("h1").textContent = document.title }, 100)</script>',
      { headers: { 'content-type': 'text/html' } },
    ),
})
const env = { SVC_EGRESS_ALLOW: '127.0.0.1/32', SVC_BROWSER_SESSIONS_PER_USER: '100', SVC_BROWSER_SESSIONS: '100' }
const server = await serveBench('browser', env)

const start = async (body: object) => {
  const at = performance.now()
  const session: { session_id: string; embed_url: string } = await server.ask('browser/sessions', body)
  return { ...session, ms: performance.now() - at }
}

function startedBy(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const children = all.filter((name) => {
    try {
      return processOf(name).parent === pid
    } catch {
      return false
    }
  })
  return children.flatMap((name) => [Number(name), ...startedBy(Number(name))])
}

/** Megabytes of all processes of the browser; what they share is counted once. */
const memory = (): number =>
  startedBy(server.pid)
    .map((pid) => {
      try {
        return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024
      } catch {
        return 0
      }
    })
    .reduce((sum, mb) => sum + mb, 0)

/** From the moment that the page wrote down to the frame at a viewer; the page and the viewer have one clock. */
async function latencies(session: { session_id: string; embed_url: string }): Promise<number[]> {
  const token = new URL(session.embed_url).searchParams.get('token')
  const ws = new WebSocket(`${server.url.replace('http', 'ws')}/embed/browser/${session.session_id}/stream`)
  ws.binaryType = 'arraybuffer'
  const found: number[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  ws.onopen = () => ws.send(JSON.stringify({ type: 'hello', token }))
  ws.onmessage = ({ data }) => {
    if (typeof data === 'string') return
    const length = new DataView(data as ArrayBuffer).getUint32(0)
    const { at } = JSON.parse(new TextDecoder().decode(new Uint8Array(data as ArrayBuffer, 4, length)))
    found.push(Date.now() - at)
    ws.send(JSON.stringify({ type: 'ack' }))
    if (found.length >= FRAMES) resolve()
  }
  await promise
  ws.close()
  return found.slice(2)
}

const first = await start({ url: `http://127.0.0.1:${site.port}/` })
const late = await latencies(first)
const [before, ready] = [memory(), [] as number[]]
for (let at = 1; at < SESSIONS; at++) ready.push((await start({})).ms)
const after = memory()
const each = (after - before) / (SESSIONS - 1)
const rank = (values: number[], share: number) => percentile(values, share).toFixed(0)
for (const line of [
  `first session, with the start of Chromium: ${Math.round(first.ms)} ms`,
  `ready, browser warm: p50 ${rank(ready, 0.5)} ms, p95 ${rank(ready, 0.95)} ms (at most 500)`,
  `frame from paint to viewer: p50 ${rank(late, 0.5)} ms, p95 ${rank(late, 0.95)} ms (at most 120)`,
  `memory: ${Math.round(before)} MB with one session, ${each.toFixed(1)} MB for each of the others (at most 40)`,
])
  print(line)
await server.kill()
site.stop(true)
