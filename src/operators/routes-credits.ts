import { Elysia } from 'elysia'
import { OwnerQuery } from '../accounts/orgs/schema'
import { BillingLimits } from '../billing/schema'
import { answer, errors } from '../http/envelope'
import { type operatorEdge, toOperatorCall } from '../http/operator-edge'
import { pageFields } from '../kernel/page'
import { checked, checkedQuery } from '../kernel/schema'
import * as words from './schema'
import * as books from './schema-credits'
import type { OperatorService } from './service'

type Edge = ReturnType<typeof operatorEdge>
type Credits = Pick<OperatorService, 'credits' | 'books' | 'reconciliation'>

/** `/ops/v1/credits`: credit of any owner, and the ledger behind it (dx 2.16). */
export const creditRoutes = ({ credits, books: bookVerbs, reconciliation }: Credits, edge: Edge) =>
  new Elysia({ prefix: '/ops/v1/credits' })
    .use(edge)
    .get('', (context) => credits.balance(toOperatorCall(context), context.query.owner), {
      holds: 'facts',
      query: checkedQuery(OwnerQuery),
      response: { 200: answer(words.Balance), ...errors(404, 409) },
    })
    .post('', (context) => credits.grant(toOperatorCall(context), context.body), {
      role: 'billing',
      body: checked(words.NewGrant),
      response: { 200: answer(words.Grant), ...errors(400, 404, 409) },
    })
    .post(
      '/adjustments',
      async (context) => {
        const { owner, ...booked } = await bookVerbs.adjust(toOperatorCall(context), context.body)
        return { ...(await credits.balanceOf(owner)), ...booked, object: 'credit_adjustment' as const }
      },
      {
        role: 'billing',
        body: checked(books.NewAdjustment),
        response: { 200: answer(books.Adjustment), ...errors(400, 404, 409) },
      },
    )
    .get(
      '/ledger',
      async (context) => {
        const page = await bookVerbs.ledger(toOperatorCall(context), context.query)
        return { entries: page.items, ...pageFields(page) }
      },
      {
        holds: ['note'],
        role: 'billing',
        query: checkedQuery(books.LedgerQuery),
        response: { 200: answer(books.LedgerRows), ...errors(400, 404, 409) },
      },
    )
    .get('/differences', (context) => reconciliation.compare(toOperatorCall(context)), {
      holds: 'facts',
      response: { 200: answer(books.Reconciliation) },
    })
    .post('/differences', (context) => reconciliation.apply(toOperatorCall(context)), {
      role: 'billing',
      response: { 200: answer(books.Reconciliation) },
    })
    .post('/codes', (context) => bookVerbs.createCode(toOperatorCall(context), context.body), {
      role: 'billing',
      body: checked(books.NewCode),
      response: { 200: answer(books.GrantCode), ...errors(400) },
    })
    .put('/caps', (context) => bookVerbs.setCaps(toOperatorCall(context), context.body), {
      role: 'billing',
      body: checked(books.NewCaps),
      response: { 200: answer(BillingLimits), ...errors(400, 404, 409) },
    })
