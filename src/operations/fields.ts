/** The kinds of fields that requests are made of. Each takes the sentence that help, flags and tools show. */
import { type TSchema, Type } from "typebox"

export function text(description: string) {
  return Type.Optional(Type.String({ minLength: 1, description }))
}

export function texts(description: string) {
  return Type.Optional(Type.Array(Type.String({ minLength: 1 }), { default: [], description }))
}

export function onOff(description: string) {
  return Type.Optional(Type.Boolean({ default: false, description }))
}

export function choice<const C extends string>(known: readonly C[], description: string, preset?: C) {
  return Type.Optional(oneOf(known, { description, ...(preset === undefined ? {} : { default: preset }) }))
}

export function manyOf<const C extends string>(known: readonly C[], description: string) {
  return Type.Optional(Type.Array(oneOf(known), { default: [], description }))
}

/** The field, unless it is absent. */
export function given<N extends string, V>(name: N, value: V | undefined): { readonly [K in N]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in N]: V })
}

/** An answer's field that is there and may be empty. */
export function nullable<const S extends TSchema>(schema: S, options: { readonly description?: string } = {}) {
  return Type.Union([schema, Type.Null()], options)
}

export function oneOf<const C extends string>(
  all: readonly C[],
  options: { readonly description?: string; readonly default?: C } = {},
) {
  return Type.Unsafe<C>(
    Type.Union(
      all.map((each) => Type.Literal(each)),
      options,
    ),
  )
}
