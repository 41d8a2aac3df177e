/** The same object with some methods replaced. */

export function replaced<T extends object>(original: T, methods: Partial<T>): T {
  return new Proxy(original, {
    get: (target, name) => {
      const method: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name, target);
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}
