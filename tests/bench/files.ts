/**
 * `bun run bench files [--mb=1024]`: serves one file of 256 MB over and over, whole and in ranges, four at a time,
 * until so much has gone out, and says by how much memory grew above that of the server at rest (64 MB). Exits 1 above
 * it.
 */
import { count, openBench, print } from './setup'

const MB = 1024 * 1024
const FILE_MB = 256
const MAX_GROWTH_MB = 64
const wanted = count('mb', 1_024)

const { app, close } = await openBench('files')
const { store, orgs, files } = app.container
const user = await store.write((tx) => orgs.createUser(tx, { email: 'bench@localhost', name: 'Bench' }))
const piece = new Uint8Array(MB).fill(7)
const source = new ReadableStream<Uint8Array>({
  pull(controller) {
    sent++
    controller.enqueue(piece.slice())
    if (sent === FILE_MB) controller.close()
  },
})
let sent = 0
const about = { type: 'file' as const, filename: 'large.bin', mimeType: 'application/octet-stream' }
const { url } = await files.save(`user:${user.id}`, source, { ...about, engine: 'svc-core', model: 'svc-1-bench' })
app.api.listen({ port: 0, hostname: '127.0.0.1' })
const { pathname, search } = new URL(url!)
const address = `http://127.0.0.1:${app.api.server!.port}${pathname}${search}`

const rss = () => process.memoryUsage.rss() / MB
await fetched('0-1048575')
Bun.gc(true)
const before = rss()
let highest = before
const watch = setInterval(() => {
  highest = Math.max(highest, rss())
}, 20)

let served = 0
const began = performance.now()
while (served < wanted) {
  const half = `${(FILE_MB / 2) * MB}-`
  const sizes = await Promise.all([null, null, half, half].map(fetched))
  served += sizes.reduce((sum, size) => sum + size, 0) / MB
}
clearInterval(watch)
const seconds = (performance.now() - began) / 1_000
const grew = highest - before
print(
  `${Math.round(served)} MB in ${seconds.toFixed(1)} s; memory grew by ${Math.round(grew)} MB from ${Math.round(before)} (limit ${MAX_GROWTH_MB})`,
)
await app.api.server?.stop(true)
await close()
process.exit(grew > MAX_GROWTH_MB ? 1 : 0)

/** Bytes that another program got. */
async function fetched(range: string | null): Promise<number> {
  const only = range ? ['-r', range] : []
  const client = Bun.spawn(['curl', '-sS', '-o', '/dev/null', '-w', '%{size_download}', ...only, address], {
    stdout: 'pipe',
  })
  return Number(await new Response(client.stdout).text())
}
