import { AppError, parseConfig, route, serve } from 'tandem';
import * as v from 'valibot';

const Order = v.object({ id: v.string(), title: v.string(), placedAt: v.number() });

// The files that this process creates are for its user only.
process.umask(0o077);
await serve(parseConfig(process.env), {
  tables: {
    orders: {
      columns: { id: 'text', userId: 'text', title: 'text', placedAt: 'integer' },
      key: ['id'],
      indexes: { user: ['userId', 'id'] },
      ofUser: true,
    },
  },
  routes: ({ records, ids, clock }) => [
    route({
      name: 'place-order',
      summary: 'Place an order',
      at: 'POST /orders',
      request: { body: v.object({ title: v.pipe(v.string(), v.minLength(1), v.maxLength(100)) }) },
      response: { status: 201, data: Order },
      handler: async ({ body, claims }) => {
        const order = { id: ids.next(), userId: claims.user.id, title: body.title, placedAt: clock.now() };
        await records.insert('orders', order);
        return order;
      },
    }),
    route({
      name: 'order',
      summary: 'Return an order of the user',
      at: 'GET /orders/:id',
      request: { params: v.object({ id: v.string() }) },
      response: { data: Order },
      errors: {
        SHOP_ORDER_NOT_FOUND: {
          status: 404,
          message: 'There is no such order.',
          description: 'The order was removed, or belongs to somebody else.',
        },
      },
      handler: async ({ params, claims }) => {
        const [order] = await records.list('orders', { equal: { id: params.id } });
        if (order?.userId !== claims.user.id) throw new AppError('SHOP_ORDER_NOT_FOUND');
        return order;
      },
    }),
  ],
});
