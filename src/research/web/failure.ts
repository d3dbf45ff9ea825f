/** What could not be searched or read, in one sentence of this server: it names no search server and no secret. */
export class WebFailure extends Error {
  override name = 'WebFailure'
}
