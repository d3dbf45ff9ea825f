/** A receiver of its own process, so that its work is not counted as the server's: prints its port; `/count` answers. */
let count = 0
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return Response.json({ count })
    await request.arrayBuffer()
    count += 1
    return new Response(null, { status: 204 })
  },
})
process.stdout.write(`${server.port}\n`)
