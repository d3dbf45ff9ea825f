import type { Api } from '../src/app/server'

/** Every route of the API, by its path: the types of the server itself. */
export type Routes = Api['~Routes']['api']['v1']

/** What a route answers when it succeeds. */
export type Done<Route> = Route extends { response: infer Answers } ? Answers[keyof Answers & (200 | 201 | 202)] : never

/** What a route takes as its body. */
export type Sent<Route> = Route extends { body: infer Body } ? Body : never

/** What a route takes as its query. */
export type Request<Route> = Route extends { query: infer Query } ? Partial<Query> : never
