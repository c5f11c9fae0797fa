/** The same object with other methods in place of some of its own. It may be an instance of a class, whose methods need their `this`. */
export const withMethods = <Target extends object>(target: Target, methods: Partial<Target>): Target =>
  // Not over the object itself, which may be frozen: then a proxy has to return its methods as they are.
  new Proxy({} as Target, {
    get(_target, name) {
      const method: unknown = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
