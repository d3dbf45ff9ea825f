import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checkedQuery } from '../kernel/schema'
import type { BenchmarkService } from './benchmarks'
import { BenchmarkQuery, Benchmarks } from './schema-benchmarks'

type Deps = { benchmarks: BenchmarkService }

/** How fast and how well the caller's calls were answered (contract 21). */
export const benchmarkRoutes = ({ benchmarks }: Deps, guard: Guard) =>
  new Elysia({ tags: ['Usage'] })
    .use(guard)
    .get('/benchmarks', (context) => benchmarks.read(toCall(context), context.query.window), {
      signedIn: true,
      query: checkedQuery(BenchmarkQuery),
      response: { 200: answer(Benchmarks), ...errors(400, 401, 429) },
      detail: {
        summary: 'Read the latency of your calls, by mode',
        description:
          "Counts the account's own calls in whole hours up to and including the current one; percentiles are less than 1 % off. " +
          'Figures are cached for five seconds.',
      },
    })
