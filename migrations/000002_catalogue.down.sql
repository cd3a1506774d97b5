DROP TABLE stock_moves;
DROP TABLE stock;
DROP TABLE prices;
DROP TABLE products;
