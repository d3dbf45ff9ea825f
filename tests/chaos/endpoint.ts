export type Endpoint = ReturnType<typeof startEndpoint>

/** A caller's own tool on loopback: it takes as long as it is asked to, so that runs die in the middle of it. */
export function startEndpoint() {
  let called = 0
  let isHasty = false
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    // A connection that waits on a slow machine is not ended while a request is on its way.
    idleTimeout: 0,
    async fetch(request) {
      called += 1
      const { arguments: args } = (await request.json()) as { arguments: { ms: number } }
      await Bun.sleep(isHasty ? 0 : args.ms)
      return Response.json({ waited: args.ms })
    },
  })
  const tool = {
    name: 'wait',
    description: 'Waits so many milliseconds.',
    input_schema: { type: 'object', required: ['ms'], properties: { ms: { type: 'integer' } } },
    endpoint: { url: `http://127.0.0.1:${server.port}/` },
  }
  return {
    /** As a request brings it along. */
    tool,
    called: () => called,
    /** From now on nobody waits. */
    hasten() {
      isHasty = true
    },
    stop: () => server.stop(true),
  }
}
