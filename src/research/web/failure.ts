/**
 * What could not be searched or read, in one sentence that this server wrote: it names no search server and no secret.
 */
export class WebFailure extends Error {
  override name = 'WebFailure'
}
