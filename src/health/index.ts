/** Health: whether the database, Redis and the engines answer, found out by probing them. */
export { createHealth } from './service'
