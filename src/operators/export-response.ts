/**
 * Streams the pieces of a file as the answer. The first piece is read before the answer starts, so that an error before
 * it keeps its own status.
 */
export async function exportResponse(
  pieces: AsyncGenerator<string>,
  headers: Record<string, string>,
): Promise<Response> {
  const first = await pieces.next()
  return new Response(resumed(first, pieces) as unknown as BodyInit, { headers })
}

async function* resumed(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (!first.done) yield first.value
  yield* rest
}
