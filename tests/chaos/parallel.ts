const AT_ONCE = 16

/** Runs all of them, so many at a time, and gathers what each has to say. */
export async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<string[]>): Promise<string[]> {
  const waiting = [...items]
  const problems: string[] = []
  const worker = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) problems.push(...(await run(item)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return problems
}
