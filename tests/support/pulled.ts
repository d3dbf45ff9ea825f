/** What is pushed, as a generator: each part waits until it was read, and a reader that stops makes the push throw. */
export async function* pulled<T>(push: (take: (part: T) => Promise<void>) => Promise<unknown>): AsyncGenerator<T> {
  type Given = { part: T; read: PromiseWithResolvers<void> }
  let given = null as Given | null
  let isOver = false
  let wake = Promise.withResolvers<void>()
  const take = (part: T): Promise<void> => {
    const read = Promise.withResolvers<void>()
    given = { part, read }
    wake.resolve()
    return read.promise
  }
  const whole = push(take).finally(() => {
    isOver = true
    wake.resolve()
  })
  whole.catch(() => null)
  const next = async () => {
    await wake.promise
    wake = Promise.withResolvers()
    return given
  }
  let current = null as Given | null
  try {
    for (current = await next(); current && !isOver; current = await next()) {
      given = null
      yield current.part
      current.read.resolve()
    }
    await whole
  } finally {
    current?.read.reject(new Error('the reader stopped'))
    await whole.catch(() => null)
  }
}
